// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kaslr/name_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/kernel.h"
#include "base/text.h"
#include "symbols/files/address_words.h"
#include "symbols/kaslr/kaslr_offset.h"

namespace stapgen::symbols {

namespace {

using Starts = std::unordered_map<std::string_view, std::vector<std::uint64_t>>;

/// Where the functions of the kernel itself begin that are named.
Starts starts_of(std::span<const NamedAddress> named, const SymbolTable& table) {
    Starts starts;
    for (const auto& one : named)
        starts.try_emplace(one.name);
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto [start, symbol] = table.function(i);
        if (symbol.module) continue;
        if (const auto found = starts.find(symbol.name); found != starts.end()) found->second.push_back(start);
    }
    return starts;
}

std::int64_t kaslr_offset_of(const NamedAddress& named, std::uint64_t start) {
    return static_cast<std::int64_t>(named.address - named.offset - start);
}

/// The possible KASLR offset that most named addresses are for; nothing where two have as many.
std::optional<std::int64_t> prevailing_offset(std::span<const NamedAddress> named, const Starts& starts,
                                              const PossibleKaslrOffsets& possible) {
    std::map<std::int64_t, std::size_t> votes;
    for (const auto& one : named) {
        if (!one.has_offset) continue;
        for (const auto start : starts.at(one.name)) {
            if (const auto kaslr_offset = kaslr_offset_of(one, start); possible.contains(kaslr_offset))
                ++votes[kaslr_offset];
        }
    }
    const auto best = std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
    if (best == votes.end()) return std::nullopt;
    const auto as_many = std::ranges::count(votes, best->second, [](const auto& vote) { return vote.second; });
    return as_many == 1 ? std::optional(best->first) : std::nullopt;
}

constexpr std::string_view hex_digits = "0123456789abcdef";

/// "name+0x18/0x30", "name+0x18", or "name+18" as dropwatch(1) has it, at the front of `text`.
std::optional<NamedAddress> read_name(std::string_view text) {
    const auto end = base::symbol_length(text);
    if (end == 0 || end == text.size() || text[end] != '+') return std::nullopt;
    auto digits = text.substr(end + 1);
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    const auto rest = std::min(digits.find_first_not_of(hex_digits), digits.size());
    const auto offset = base::to_unsigned(digits.substr(0, rest), 16);
    const auto name = text.substr(0, end);
    if (!offset || !base::can_be_code(name, *offset)) return std::nullopt;
    NamedAddress found{0, std::string(name), *offset};
    if (auto behind = digits.substr(rest); behind.starts_with("/0x")) {
        behind.remove_prefix(3);
        found.size = base::to_unsigned(behind.substr(0, behind.find_first_not_of(hex_digits)), 16).value_or(0);
    }
    return found;
}

/// The text that precedes the address in a frame of crash's bt, x86_64_print_stack_entry() in its x86_64.c and its
/// like:
///      #0 [ffff880023f6bd50] schedule_timeout at ffffffff81528732
///      #0 [ffff880023f6bd50] schedule_timeout+402 at ffffffff81528732        bt -s; +0x192 with -x
std::optional<NamedAddress> read_crash_frame(std::string_view before) {
    const auto frame =
        before.ends_with(" at ") ? base::match("*[*] * at ", before.substr(before.rfind('\n') + 1)) : std::nullopt;
    if (!frame || !base::to_unsigned((*frame)[1], 16)) return std::nullopt;
    const auto text = (*frame)[2];
    const auto name = text.substr(0, base::symbol_length(text));
    // The names that crash gives a frame at which the task left the CPU, or began, wherever it is.
    constexpr std::string_view any_place = "schedule kernel_thread arch_kernel_thread";
    if (name.empty()) return std::nullopt;
    if (name == text) {
        return base::contains_word(any_place, name) ? std::nullopt
                                                    : std::optional(NamedAddress{0, std::string(name), 0, 0, false});
    }
    const auto digits = text.substr(name.size() + 1);
    const auto offset = digits.starts_with("0x") ? base::from_hex(digits) : base::to_unsigned(digits);
    if (text[name.size()] != '+' || !offset) return std::nullopt;
    return NamedAddress{0, std::string(name), *offset};
}

/// Whether crash's frame goes on so behind the address of a stack: "schedule_timeout+0x192 at ffffffff81528732".
bool is_of_stack(std::string_view behind) {
    if (behind.find(" at ") == behind.npos) return false;
    const auto words = base::words(behind);
    return words.size() > 2 && words[1] == "at" && base::from_hex(words[2]);
}

bool names_module(std::string_view behind) {
    const auto bracket = behind.find('[');
    return bracket != std::string_view::npos && !behind.substr(bracket).starts_with("[kernel");
}

}  // namespace

NameCheck check_names(std::span<const NamedAddress> named, const SymbolTable& table,
                      std::optional<std::int64_t> kaslr_offset) {
    const auto starts = starts_of(named, table);
    NameCheck check;
    check.kaslr_offset = kaslr_offset ? kaslr_offset : prevailing_offset(named, starts, PossibleKaslrOffsets(table));
    for (const auto& one : named) {
        const auto& here = starts.at(one.name);
        if (!one.has_offset) {
            if (here.empty() || !check.kaslr_offset) continue;
            const auto there = table.find(one.address, {AddressKind::return_address, *check.kaslr_offset});
            if (there && there->name == one.name) {
                ++check.agreeing;
            } else if (++check.contradicting == 1) {
                check.contradiction = fmt::format("{:#x} is in {} in the log, but the table has {} there", one.address,
                                                  one.name, there ? to_string(*there) : "no function");
            }
            continue;
        }
        const auto agrees = [&](std::uint64_t start) { return kaslr_offset_of(one, start) == check.kaslr_offset; };
        if (here.empty()) {
            // A name that the table has not may be another one of a function that begins there.
            const auto start = one.address - one.offset;
            const auto there =
                check.kaslr_offset ? table.find(start, {AddressKind::exact, *check.kaslr_offset}) : std::nullopt;
            if (there && there->offset != 0 && ++check.contradicting == 1) {
                check.contradiction = fmt::format("{}+{:#x} begins at {:#x} in the log, but the table has {} there",
                                                  one.name, one.offset, start, to_string(*there));
            }
        } else if (std::ranges::any_of(here, agrees)) {
            ++check.agreeing;
            ++check.exact;
            const auto there = table.find(one.address - one.offset, {AddressKind::exact, *check.kaslr_offset});
            if (one.size != 0 && there && there->size != one.size && check.other_size.empty()) {
                check.other_size = fmt::format("{}() has {:#x} bytes in the log and {:#x} in the table", one.name,
                                               one.size, there->size);
            }
        } else if (++check.contradicting == 1) {
            check.contradiction = fmt::format("{}+{:#x} is {:#x} in the log and {:#x} in the table", one.name,
                                              one.offset, one.address, here.front() + one.offset);
        }
    }
    return check;
}

std::vector<NamedAddress> find_named_addresses(std::string_view text, int digits) {
    constexpr std::size_t max_distance = 2 * base::max_symbol_length;
    std::vector<NamedAddress> named;
    for_each_address(text, static_cast<std::size_t>(digits), [&](const AddressWord& word) {
        // A line may be of any length, and a name is not.
        auto behind = text.substr(word.end, max_distance);
        behind = behind.substr(0, behind.find('\n'));
        behind.remove_prefix(std::min(behind.find_first_not_of("]>):? \t"), behind.size()));
        const auto far_before = word.begin - std::min(word.begin, max_distance);
        auto found = read_crash_frame(text.substr(far_before, word.begin - far_before));
        if (!found && is_of_stack(behind)) return;
        if (!found) found = read_name(behind);
        if (found && names_module(behind)) return;
        if (!found && word.begin > 1 && text.substr(word.begin - 2, 2) == " (") {
            const auto before = text.substr(0, word.begin - 2);
            found = read_name(before.substr(before.find_last_of(" \t\n") + 1));
        }
        if (!found) return;
        found->address = word.address;
        named.push_back(*std::move(found));
    });
    return named;
}

}  // namespace stapgen::symbols
