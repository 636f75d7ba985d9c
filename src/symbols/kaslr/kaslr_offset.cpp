#include "symbols/kaslr/kaslr_offset.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace stapgen::symbols {

namespace {

constexpr double max_by_chance = 0.001;
/// Where functions are compared and not calls. The functions of a neighbouring build lie a little aside: of 11,200 logs
/// of places that are common ones, drawn from seven builds of Linux 6.12, the map of another build fits none with ten
/// places, 5 with eight, 12 with six and 121 with three.
constexpr std::size_t min_by_functions = 10;
constexpr std::size_t max_candidates = 20;

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
    constexpr std::int64_t alignment = 0x200000;
    return {alignment,
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

/// KASLR offsets that no more and no fewer addresses tell apart: under each of them `count` addresses lie in the text,
/// and all of those are drop sites.
struct Fit {
    KaslrOffsets kaslr_offsets;
    std::size_t count = 0;
};

struct Question {
    const Addresses& text;
    const DropSites& sites;
    const Rules& rules;
};

/// Every KASLR offset, aligned or not, under which at least one address lies in the text and none there is not a site.
std::vector<Fit> all_fits(std::span<const std::uint64_t> addresses, const Question& question) {
    struct Step {
        std::int64_t at;
        int in_text, at_site;
    };
    std::vector<Step> steps;
    const auto add = [&](std::uint64_t address, std::uint64_t begin, std::uint64_t end, int in_text, int at_site) {
        steps.push_back({difference(address, end) + 1, in_text, at_site});
        steps.push_back({difference(address, begin) + 1, -in_text, -at_site});
    };
    for (const auto address : addresses) {
        add(address, question.text.begin, question.text.end, 1, 0);
        for (const auto& range : question.sites.ranges()) {
            if (range.begin >= question.text.begin && range.end <= question.text.end) {
                add(address, range.begin, range.end, 0, 1);
            }
        }
    }
    std::ranges::sort(steps, {}, &Step::at);

    std::vector<Fit> fits;
    int in_text = 0, at_site = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        in_text += steps[i].in_text;
        at_site += steps[i].at_site;
        if (i + 1 == steps.size() || steps[i + 1].at == steps[i].at || in_text == 0 || at_site < in_text) continue;
        if (question.rules.surely_kernel && static_cast<std::size_t>(in_text) < addresses.size()) continue;
        const auto half = question.rules.alignment / 2;
        const KaslrOffsets kaslr_offsets{std::max(steps[i].at, question.rules.kaslr_offsets.begin - half),
                                         std::min(steps[i + 1].at, question.rules.kaslr_offsets.end + half)};
        if (kaslr_offsets.begin < kaslr_offsets.end) fits.push_back({kaslr_offsets, static_cast<std::size_t>(in_text)});
    }
    return fits;
}

/// The first multiple of `alignment` that is not below `number`.
std::int64_t aligned_up(std::int64_t number, std::int64_t alignment) {
    const auto rest = number % alignment;
    return number - rest + (rest > 0 ? alignment : 0);
}

/// How many of `addresses` lie in the text under this KASLR offset; none if one of them is no site.
std::size_t explained(std::span<const std::uint64_t> addresses, std::int64_t kaslr_offset, const Question& question) {
    std::size_t count = 0;
    for (const auto address : addresses) {
        const auto in_table = linked_address(address, kaslr_offset);
        if (!question.text.contains(in_table)) {
            if (question.rules.surely_kernel) return 0;
            continue;
        }
        if (!question.sites.contains(in_table)) return 0;
        ++count;
    }
    return count;
}

struct Candidates {
    std::vector<std::int64_t> kaslr_offsets;  ///< ascending
    std::size_t explained = 0;                ///< addresses, under each
};

/// Of the KASLR offsets that the architecture could have chosen those that explain most addresses.
Candidates best_candidates(const std::vector<Fit>& fits, std::span<const std::uint64_t> addresses,
                           const Question& question) {
    constexpr std::size_t max_tried = 100000;  // reached only by a table that no kernel has
    Candidates best;
    std::size_t tried = 0;
    for (const auto& fit : fits) {
        const auto& kaslr_offsets = question.rules.kaslr_offsets;
        auto kaslr_offset =
            aligned_up(std::max(fit.kaslr_offsets.begin, kaslr_offsets.begin), question.rules.alignment);
        for (; kaslr_offset < std::min(fit.kaslr_offsets.end, kaslr_offsets.end) && ++tried < max_tried;
             kaslr_offset += question.rules.alignment) {
            const auto count = explained(addresses, kaslr_offset, question);
            if (count == 0 || count < best.explained) continue;
            if (count > best.explained) best = {{}, count};
            best.kaslr_offsets.push_back(kaslr_offset);
        }
    }
    return best;
}

/// How many wrong KASLR offsets would fit by chance, taken from the KASLR offsets that no kernel can have: the share of
/// all those under which at least `count` addresses fit. What is nearer to a KASLR offset than to its neighbours stands
/// for that KASLR offset, so what is nearest to the found one is left out.
double fitting_by_chance(const std::vector<Fit>& fits, std::size_t count, const KaslrOffsets& found, const Rules& rules,
                         bool exact) {
    double kaslr_offsets = 0;
    for (const auto& fit : fits) {
        if (fit.count < count) continue;
        const auto length = fit.kaslr_offsets.end - fit.kaslr_offsets.begin;
        const auto of_found =
            std::min(fit.kaslr_offsets.end, found.end) - std::max(fit.kaslr_offsets.begin, found.begin);
        kaslr_offsets += static_cast<double>(length - std::max(std::int64_t{0}, of_found));
    }
    return kaslr_offsets * static_cast<double>(exact ? rules.granule : 1) / static_cast<double>(rules.alignment);
}

std::size_t kaslr_offsets_that_keep(std::uint64_t address, const Question& question) {
    const auto first = std::max(difference(address, question.text.end) + 1, question.rules.kaslr_offsets.begin);
    const auto last = std::min(difference(address, question.text.begin) + 1, question.rules.kaslr_offsets.end);
    const auto alignment = question.rules.alignment;
    return static_cast<std::size_t>(
        std::max(std::int64_t{0}, (aligned_up(last, alignment) - aligned_up(first, alignment)) / alignment));
}

/// Some of a long log's addresses, evenly: enough to find the candidates, few enough to be quick.
std::vector<std::uint64_t> sample(const std::vector<std::uint64_t>& addresses, std::size_t sites) {
    constexpr std::size_t max_size = 64, max_pairs = 4'000'000;
    const auto size = std::clamp(max_pairs / std::max<std::size_t>(sites, 1), std::size_t{1}, max_size);
    if (addresses.size() <= size) return addresses;
    std::vector<std::uint64_t> some;
    for (std::size_t i = 0; i < size; ++i)
        some.push_back(addresses[i * addresses.size() / size]);
    return some;
}

struct Answer {
    Candidates best;
    std::size_t kernel = 0;  ///< addresses that can be of the kernel's text
    std::size_t possible = 0;
    double by_chance = 0;
};

Answer search(const std::vector<std::uint64_t>& different, const Addresses& text, const DropSites& sites,
              const Rules& rules) {
    const Question question{text, sites, rules};
    std::vector<std::uint64_t> kernel;
    std::ranges::copy_if(different, std::back_inserter(kernel), [&](std::uint64_t address) {
        return rules.kernel.contains(address) && address % rules.granule == 0;
    });
    if (kernel.empty()) return {};
    const auto some = sample(kernel, sites.size());
    const auto fits = all_fits(some, question);
    Answer answer{best_candidates(fits, kernel, question), kernel.size(),
                  kaslr_offsets_that_keep(kernel.front(), question), 0};
    const auto& kaslr_offsets = answer.best.kaslr_offsets;
    const auto half = rules.alignment / 2;
    const auto found = kaslr_offsets.size() == 1
                           ? KaslrOffsets{kaslr_offsets.front() - half, kaslr_offsets.front() + half}
                           : KaslrOffsets{};
    const auto count = kaslr_offsets.empty() ? 1 : explained(some, kaslr_offsets.front(), question);
    answer.by_chance = fitting_by_chance(fits, count, found, rules, sites.exact());
    return answer;
}

std::string explain(const KaslrFinding& finding) {
    const auto places =
        fmt::format("{} {}", finding.sites,
                    finding.exact ? "return addresses of calls that drop a packet" : "functions known to drop packets");
    const auto addresses = fmt::format(
        "{} of the kernel{}",
        finding.addresses == 1 ? std::string("the one drop address")
                               : fmt::format("all {} different drop addresses", finding.addresses),
        finding.in_modules == 0 ? std::string() : fmt::format(" ({} more are of modules)", finding.in_modules));
    if (finding.kaslr_offset) {
        return fmt::format(
            "KASLR offset {}: the only one of {} possible offsets that puts {} at the {}; {:.2g} wrong ones would fit "
            "by chance",
            hexadecimal(*finding.kaslr_offset), finding.possible, addresses, places, finding.expected_by_chance);
    }
    if (finding.addresses == 0) return "KASLR offset unknown: no drop of the log can be in the kernel's own code";
    if (finding.candidate_count == 0) {
        return fmt::format(
            "KASLR offset unknown: none of {} possible offsets puts {} at the {}, so one of them is of no known place "
            "or the files are of another kernel",
            finding.possible, addresses, places);
    }
    if (finding.candidate_count == 1 && !finding.exact && finding.addresses < min_by_functions) {
        return fmt::format(
            "KASLR offset unknown: only {} puts {} at the {}, but fewer than {} can do so with the map of a "
            "neighbouring build, too",
            hexadecimal(finding.candidates.front()), addresses, places, min_by_functions);
    }
    if (finding.candidate_count == 1) {
        return fmt::format(
            "KASLR offset unknown: only {} puts {} at the {}, but {:.2g} wrong ones would fit by chance, and at most "
            "{} are accepted",
            hexadecimal(finding.candidates.front()), addresses, places, finding.expected_by_chance, max_by_chance);
    }
    return fmt::format("KASLR offset unknown: {} of {} possible offsets put {} at the {}", finding.candidate_count,
                       finding.possible, addresses, places);
}

}  // namespace

std::string hexadecimal(std::int64_t kaslr_offset) {
    const auto magnitude = static_cast<std::uint64_t>(kaslr_offset);
    return kaslr_offset < 0 ? fmt::format("-{:#x}", -magnitude) : fmt::format("{:#x}", magnitude);
}

bool has_kaslr(const SymbolTable& table) {
    return !table.addresses_of("dump_kernel_offset").empty();
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
            "use the System.map of the very kernel that ran, or a copy of its /proc/kallsyms");
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

KaslrFinding infer_kaslr_offset(std::span<const std::uint64_t> addresses, const DropSites& sites,
                                const SymbolTable& table, Architecture architecture, bool same_build) {
    KaslrFinding finding;
    finding.sites = sites.size();
    finding.exact = sites.exact();
    std::vector<std::uint64_t> different(addresses.begin(), addresses.end());
    std::ranges::sort(different);
    different.erase(std::unique(different.begin(), different.end()), different.end());
    const auto text = text_range(table);
    if (!text || architecture == Architecture::other) {
        finding.addresses = different.size();
        finding.explanation =
            "KASLR offset unknown: it is inferred for kernels of x86-64 and arm64 only; what helps: the offset itself "
            "(--kaslr-offset); a copy of /proc/kallsyms of the boot that made the log";
        return finding;
    }

    const auto rules = architecture == Architecture::arm64 ? arm64_rules(*text) : x86_rules(*text);
    auto answer = search(different, *text, sites, rules);
    // A kernel without CONFIG_RANDOMIZE_BASE is not moved, and its modules lie where another's text can be.
    if (architecture == Architecture::x86_64 && answer.best.kaslr_offsets.empty()) {
        auto unmoved = rules;
        unmoved.kaslr_offsets = {0, 1};
        unmoved.kernel.end = x86_modules_without_kaslr;
        if (auto other = search(different, *text, sites, unmoved); !other.best.kaslr_offsets.empty())
            answer = std::move(other);
    }

    const auto& best = answer.best;
    finding.candidate_count = best.kaslr_offsets.size();
    finding.candidates.assign(
        best.kaslr_offsets.begin(),
        best.kaslr_offsets.begin() + static_cast<std::ptrdiff_t>(std::min(best.kaslr_offsets.size(), max_candidates)));
    finding.possible = answer.possible;
    finding.expected_by_chance = answer.by_chance;
    finding.addresses = best.kaslr_offsets.empty() ? answer.kernel : best.explained;
    finding.in_modules = different.size() - finding.addresses;
    const bool are_enough = sites.exact() || best.explained >= min_by_functions;
    if (best.kaslr_offsets.size() == 1 && (same_build || (are_enough && answer.by_chance <= max_by_chance)))
        finding.kaslr_offset = best.kaslr_offsets.front();
    finding.explanation = explain(finding);
    return finding;
}

bool fits_unmoved(std::span<const std::uint64_t> addresses, const DropSites& sites, const SymbolTable& table) {
    // Elsewhere than on x86-64 an address outside the text may be a module's.
    const bool is_apart = architecture_of(table) == Architecture::x86_64;
    std::size_t inside = 0, known = 0;
    for (const auto address : addresses) {
        const auto symbol = table.find(address, {AddressKind::drop_site, 0});
        if (symbol && symbol->module) continue;
        if (!symbol && is_apart && x86_kernel.contains(address)) return false;
        inside += symbol ? 1 : 0;
        known += sites.contains(address) ? 1 : 0;
    }
    return 2 * known >= inside;
}

}  // namespace stapgen::symbols
