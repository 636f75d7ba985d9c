// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kaslr/kaslr_offset.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

namespace stapgen::symbols {

namespace {

constexpr std::ptrdiff_t max_candidates = 20;

/// Addresses or KASLR offsets from `begin` to before `end`.
template <class Number>
struct Span {
    Number begin = 0, end = 0;
    [[nodiscard]] bool contains(Number number) const { return number >= begin && number < end; }
};
using Addresses = Span<std::uint64_t>;
using KaslrOffsets = Span<std::int64_t>;

/// How an architecture moves its kernel.
struct Rules {
    std::int64_t alignment = 0;
    KaslrOffsets kaslr_offsets;  ///< that it may choose
    Addresses kernel;            ///< what lies here may be of the kernel's text
    bool surely_kernel = false;  ///< nothing else lies there
    std::uint64_t granule = 1;   ///< return addresses are multiples of it
};

std::int64_t difference(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::int64_t>(a - b);
}

/// x86-64: find_random_virt_addr() in arch/x86/boot/compressed/kaslr.c takes a multiple of CONFIG_PHYSICAL_ALIGN (2 MiB
/// at least, arch/x86/Kconfig) from LOAD_PHYSICAL_ADDR (16 MiB) up, the image within KERNEL_IMAGE_SIZE: 1 GiB with
/// CONFIG_RANDOMIZE_BASE, else 512 MiB, behind which modules begin (asm/page_64_types.h, asm/pgtable_64_types.h).
constexpr std::uint64_t x86_lowest = 0xffffffff81000000;
constexpr Addresses x86_kernel{0xffffffff80000000, 0xffffffffc0000000};
constexpr std::uint64_t x86_modules_without_kaslr = 0xffffffffa0000000;

Rules x86_rules(const Addresses& text) {
    return {x86_alignment,
            {difference(std::min(text.begin, x86_lowest), text.begin), difference(x86_kernel.end, text.end) + 1},
            x86_kernel,
            true,
            1};
}

/// arm64: the virtual address keeps the physical one's offset within 2 MiB, which the EFI stub makes a multiple of
/// 64 KiB (EFI_KIMG_ALIGN, asm/efi.h), and moves in steps of 2 MiB over terabytes (kernel/pi/kaslr_early.c, head.S).
/// Modules lie in the same area, before or behind. Instructions have 4 bytes.
Rules arm64_rules(const Addresses& text) {
    constexpr std::uint64_t lowest = 0xffff000000000000;
    constexpr auto highest = std::numeric_limits<std::uint64_t>::max();
    return {0x10000, {difference(lowest, text.begin), difference(highest, text.end)}, {lowest, highest}, false, 4};
}

std::optional<Addresses> text_range(const SymbolTable& table) {
    Addresses text{std::numeric_limits<std::uint64_t>::max(), 0};
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto [start, symbol] = table.function(i);
        if (symbol.module || symbol.init_text) continue;
        text = {std::min(text.begin, start), std::max(text.end, start + symbol.size)};
    }
    text.end = std::max(text.end, table.markers().etext.value_or(0));
    if (text.begin < upper_half || text.end <= text.begin) return std::nullopt;
    return text;
}

/// The first multiple of `alignment` that is not below `number`.
std::int64_t aligned_up(std::int64_t number, std::int64_t alignment) {
    const auto rest = number % alignment;
    return number - rest + (rest > 0 ? alignment : 0);
}

class Search {
  public:
    /// `misses`: how many addresses may be in no function that drops.
    Search(const Addresses& text, const DropFunctions& functions, const Rules& rules, int misses = 0)
        : text_(text), functions_(functions), rules_(rules), misses_(misses) {}

    /// All but what is in force and the explanation.
    [[nodiscard]] KaslrFinding find(const std::vector<std::uint64_t>& different) const {
        KaslrFinding finding;
        finding.functions = functions_.size();
        std::vector<std::uint64_t> kernel;
        std::ranges::copy_if(different, std::back_inserter(kernel), [&](std::uint64_t address) {
            return rules_.kernel.contains(address) && address % rules_.granule == 0;
        });
        if (!kernel.empty()) {
            const auto some = sample(kernel);
            const auto fits = all_fits(some);
            const auto [found, count] = best_candidates(fits, kernel);
            finding.candidate_count = found.size();
            finding.candidates.assign(found.begin(), found.begin() + std::min(std::ssize(found), max_candidates));
            finding.possible = offsets_that_keep(kernel.front());
            finding.addresses = found.empty() ? kernel.size() : count;
            if (!found.empty()) finding.miss = first_miss(kernel, found.front());
            const auto half = rules_.alignment / 2;
            const auto around =
                found.size() == 1 ? KaslrOffsets{found.front() - half, found.front() + half} : KaslrOffsets{};
            finding.expected_by_chance =
                fitting_by_chance(fits, found.empty() ? 1 : explained(some, found.front()), around);
        }
        // Texts have others in their lines, too: hashed pointers, and 0.
        const auto of_kernel = std::ranges::count_if(different, [](auto address) { return address >= upper_half; });
        finding.in_modules = static_cast<std::size_t>(of_kernel) - finding.addresses;
        return finding;
    }

  private:
    /// KASLR offsets that fit equally many addresses: with each of them `count` addresses lie in the
    /// text, and all of those in functions that drop.
    struct Fit {
        KaslrOffsets kaslr_offsets;
        std::size_t count = 0;
    };

    /// Some of a long log's addresses, evenly: enough to find the candidates, few enough to be quick.
    [[nodiscard]] std::vector<std::uint64_t> sample(const std::vector<std::uint64_t>& addresses) const {
        constexpr std::size_t max_size = 64, max_pairs = 4'000'000;
        const auto size = std::clamp(max_pairs / std::max<std::size_t>(functions_.size(), 1), std::size_t{1}, max_size);
        if (addresses.size() <= size) return addresses;
        std::vector<std::uint64_t> some;
        for (std::size_t i = 0; i < size; ++i)
            some.push_back(addresses[i * addresses.size() / size]);
        return some;
    }

    /// Every KASLR offset, aligned or not, under which at least one address lies in the text and all that do are in
    /// functions that drop, but for misses.
    [[nodiscard]] std::vector<Fit> all_fits(std::span<const std::uint64_t> addresses) const {
        struct Step {
            std::int64_t at;
            int in_text, in_functions;
        };
        std::vector<Step> steps;
        const auto add = [&](std::uint64_t address, std::uint64_t begin, std::uint64_t end, int in_text,
                             int in_functions) {
            steps.push_back({difference(address, end) + 1, in_text, in_functions});
            steps.push_back({difference(address, begin) + 1, -in_text, -in_functions});
        };
        for (const auto address : addresses) {
            add(address, text_.begin, text_.end, 1, 0);
            for (const auto& [begin, end] : functions_.ranges()) {
                if (begin >= text_.begin && end <= text_.end) add(address, begin, end, 0, 1);
            }
        }
        std::ranges::sort(steps, {}, &Step::at);

        std::vector<Fit> fits;
        int in_text = 0, in_functions = 0;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            in_text += steps[i].in_text;
            in_functions += steps[i].in_functions;
            const auto required = rules_.surely_kernel ? static_cast<int>(addresses.size()) : in_text;
            if (i + 1 == steps.size() || steps[i + 1].at == steps[i].at || in_text == 0 ||
                in_functions + misses_ < required)
                continue;
            const auto half = rules_.alignment / 2;
            const KaslrOffsets kaslr_offsets{std::max(steps[i].at, rules_.kaslr_offsets.begin - half),
                                             std::min(steps[i + 1].at, rules_.kaslr_offsets.end + half)};
            if (kaslr_offsets.begin < kaslr_offsets.end)
                fits.push_back({kaslr_offsets, static_cast<std::size_t>(in_text)});
        }
        return fits;
    }

    /// How many of `addresses` lie in functions that drop under this KASLR offset; none if more are elsewhere in the
    /// text than may be.
    [[nodiscard]] std::size_t explained(std::span<const std::uint64_t> addresses, std::int64_t kaslr_offset) const {
        std::size_t count = 0;
        int misses = 0;
        for (const auto address : addresses) {
            const auto in_table = linked_address(address, kaslr_offset);
            if (functions_.contains(in_table)) {
                ++count;
            } else if ((rules_.surely_kernel || text_.contains(in_table)) && ++misses > misses_) {
                return 0;
            }
        }
        return count;
    }

    /// 0: there is none.
    [[nodiscard]] std::uint64_t first_miss(std::span<const std::uint64_t> addresses, std::int64_t kaslr_offset) const {
        const auto miss = std::ranges::find_if(addresses, [&](std::uint64_t address) {
            const auto in_table = linked_address(address, kaslr_offset);
            return !functions_.contains(in_table) && (rules_.surely_kernel || text_.contains(in_table));
        });
        return miss == addresses.end() ? 0 : *miss;
    }

    /// Of the KASLR offsets that the architecture could have chosen those that explain most addresses, ascending, and
    /// how many these are.
    [[nodiscard]] std::pair<std::vector<std::int64_t>, std::size_t> best_candidates(
        const std::vector<Fit>& fits, std::span<const std::uint64_t> addresses) const {
        constexpr std::size_t max_tried = 100000;  // reached only by a table that no kernel has
        std::vector<std::int64_t> best;
        std::size_t max_explained = 0, tried = 0;
        const auto& allowed = rules_.kaslr_offsets;
        for (const auto& [fitting, in_text] : fits) {
            auto kaslr_offset = aligned_up(std::max(fitting.begin, allowed.begin), rules_.alignment);
            for (; kaslr_offset < std::min(fitting.end, allowed.end) && ++tried < max_tried;
                 kaslr_offset += rules_.alignment) {
                const auto count = explained(addresses, kaslr_offset);
                if (count == 0 || count < max_explained) continue;
                if (count > max_explained) best.clear();
                max_explained = count;
                best.push_back(kaslr_offset);
            }
        }
        return {std::move(best), max_explained};
    }

    /// How many wrong KASLR offsets would fit by chance, taken from the KASLR offsets that no kernel can have: the
    /// share of all those under which at least `count` addresses fit. What is nearer to a KASLR offset than to its
    /// neighbours stands for that KASLR offset, so what is nearest to the found one is left out.
    [[nodiscard]] double fitting_by_chance(const std::vector<Fit>& fits, std::size_t count,
                                           const KaslrOffsets& found) const {
        double kaslr_offsets = 0;
        for (const auto& [fitting, in_text] : fits) {
            if (in_text < count) continue;
            const auto of_found = std::min(fitting.end, found.end) - std::max(fitting.begin, found.begin);
            kaslr_offsets += static_cast<double>(fitting.end - fitting.begin - std::max(std::int64_t{0}, of_found));
        }
        return kaslr_offsets / static_cast<double>(rules_.alignment);
    }

    /// The possible offsets that keep the address in the text.
    [[nodiscard]] std::size_t offsets_that_keep(std::uint64_t address) const {
        const auto first = std::max(difference(address, text_.end) + 1, rules_.kaslr_offsets.begin);
        const auto last = std::min(difference(address, text_.begin) + 1, rules_.kaslr_offsets.end);
        const auto span = aligned_up(last, rules_.alignment) - aligned_up(first, rules_.alignment);
        return static_cast<std::size_t>(std::max(std::int64_t{0}, span / rules_.alignment));
    }

    const Addresses& text_;
    const DropFunctions& functions_;
    const Rules& rules_;
    int misses_;
};

}  // namespace

bool has_kaslr(const SymbolTable& table) {
    return !table.addresses_of("dump_kernel_offset").empty() || !table.addresses_of("kaslr_init").empty();
}

Architecture architecture_of(const SymbolTable& table) {
    const auto text = text_range(table);
    if (!text || text->begin < 0xffff000000000000) return Architecture::other;
    return text->begin >= x86_kernel.begin ? Architecture::x86_64 : Architecture::arm64;
}

bool is_moved(const SymbolTable& table) {
    const auto& text = table.markers().text;
    return architecture_of(table) == Architecture::x86_64 && text && *text != x86_lowest;
}

std::vector<MarkerDifference> marker_differences(const Markers& running, const Markers& map) {
    std::vector<MarkerDifference> differences;
    for (const auto& [name, member] : marker_names) {
        const auto &there = running.*member, &here = map.*member;
        if (there && here) differences.push_back({name, difference(*there, *here)});
    }
    return differences;
}

base::Result<std::int64_t> kaslr_offset_between(const SymbolTable& running, const SymbolTable& map) {
    const auto differences = marker_differences(running.markers(), map.markers());
    if (differences.empty()) {
        return base::bad_input("the two symbol tables have neither _stext nor _text in common",
                               "use whole symbol tables, not excerpts");
    }
    const auto& [first, kaslr_offset] = differences.front();
    for (const auto& [name, bytes] : differences) {
        if (bytes == kaslr_offset) continue;
        return base::bad_input(
            fmt::format("the two symbol tables are of different kernels: {} differs by {:#x}, {} by {:#x}", first,
                        static_cast<std::uint64_t>(kaslr_offset), name, static_cast<std::uint64_t>(bytes)),
            "use the System.map of exactly the running kernel, or a copy of its /proc/kallsyms");
    }
    return kaslr_offset;
}

PossibleKaslrOffsets::PossibleKaslrOffsets(const SymbolTable& table) {
    const auto text = text_range(table);
    const auto architecture = architecture_of(table);
    if (!text || architecture == Architecture::other || !has_kaslr(table)) return;
    const auto rules = architecture == Architecture::arm64 ? arm64_rules(*text) : x86_rules(*text);
    alignment_ = rules.alignment;
    begin_ = rules.kaslr_offsets.begin;
    end_ = rules.kaslr_offsets.end;
}

KaslrFinding infer_kaslr_offset(std::span<const std::uint64_t> addresses, const DropFunctions& functions,
                                const SymbolTable& table, bool same_build) {
    std::vector<std::uint64_t> different(addresses.begin(), addresses.end());
    std::ranges::sort(different);
    different.erase(std::unique(different.begin(), different.end()), different.end());
    const auto text = text_range(table);
    const auto architecture = architecture_of(table);
    if (!text || architecture == Architecture::other) {
        KaslrFinding finding;
        finding.functions = functions.size();
        finding.addresses = different.size();
        finding.explanation =
            "KASLR offset unknown: stapgen infers it for x86-64 and arm64 only; give it (--kaslr-offset), or a copy of "
            "/proc/kallsyms of that boot";
        return finding;
    }

    const auto rules = architecture == Architecture::arm64 ? arm64_rules(*text) : x86_rules(*text);
    auto finding = Search(*text, functions, rules).find(different);
    // A kernel without CONFIG_RANDOMIZE_BASE is not moved, and its modules lie where another's text can be.
    if (architecture == Architecture::x86_64 && finding.candidates.empty()) {
        auto unmoved_rules = rules;
        unmoved_rules.kaslr_offsets = {0, 1};
        unmoved_rules.kernel.end = x86_modules_without_kaslr;
        if (auto unmoved = Search(*text, functions, unmoved_rules).find(different); !unmoved.candidates.empty())
            finding = std::move(unmoved);
    }
    if (finding.candidates.empty()) {
        const auto near = Search(*text, functions, rules, 1).find(different);
        if (near.candidate_count == 1 && near.addresses >= min_by_functions) {
            finding.nearest = near.candidates.front();
            finding.miss = near.miss;
        }
    }
    const bool are_enough = finding.addresses >= min_by_functions;
    if (finding.candidate_count == 1 && (same_build || (are_enough && finding.expected_by_chance <= max_by_chance)))
        finding.kaslr_offset = finding.candidates.front();
    finding.explanation = explain(finding);
    return finding;
}

DropFit fit_of(std::span<const std::uint64_t> addresses, const DropFunctions& functions, const SymbolTable& table,
               std::int64_t kaslr_offset) {
    // Elsewhere than on x86-64 an address outside the text may be a module's.
    const bool modules_are_elsewhere = architecture_of(table) == Architecture::x86_64;
    const Addresses kernel{x86_kernel.begin, has_kaslr(table) ? x86_kernel.end : x86_modules_without_kaslr};
    DropFit fit;
    for (const auto address : std::set(addresses.begin(), addresses.end())) {
        const auto symbol = table.find(address, {AddressKind::drop_site, kaslr_offset});
        if (symbol ? symbol->module.has_value() : !modules_are_elsewhere || !kernel.contains(address)) continue;
        auto& counted = !symbol                                                                      ? fit.outside
                        : functions.may_contain(linked_address(address, kaslr_offset), symbol->name) ? fit.known
                                                                                                     : fit.others;
        ++counted;
        if (fit.unknown() == 1 && &counted != &fit.known) fit.unexpected = address;
    }
    return fit;
}

}  // namespace stapgen::symbols
