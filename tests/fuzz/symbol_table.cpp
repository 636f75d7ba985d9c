// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/symbol_table.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "fuzz.h"
#include "symbols/kaslr/kaslr_offset.h"

namespace {

using namespace stapgen;
using symbols::SymbolTable;

void check_answer(const SymbolTable& table, std::uint64_t address, const symbols::Lookup& lookup) {
    const auto symbol = table.find(address, lookup);
    if (!symbol) return;
    fuzz::always(!symbol->name.empty());
    fuzz::always(symbol->size > 0);
    fuzz::always(lookup.kind == symbols::AddressKind::exact ? symbol->offset < symbol->size
                                                            : symbol->offset >= 1 && symbol->offset <= symbol->size);
    fuzz::always(!(symbol->module && lookup.kaslr_offset != 0));
    const auto starts = table.addresses_of(symbol->name);
    const auto start = address - static_cast<std::uint64_t>(lookup.kaslr_offset) - symbol->offset;
    fuzz::always(std::ranges::find(starts, start) != starts.end());
    fuzz::always(symbols::to_string(*symbol).starts_with(symbol->name));
}

/// Each function, its borders, and what lies around it.
void check_answers(const SymbolTable& table) {
    constexpr std::size_t enough = 64;
    std::uint64_t last_end = 0;
    for (std::size_t i = 0; i < std::min(table.size(), enough); ++i) {
        const auto [start, symbol] = table.function(i);
        fuzz::always(symbol.offset == 0 && symbol.size > 0);
        fuzz::always(start >= last_end);
        last_end = start + symbol.size;
        fuzz::always(last_end > start || last_end == 0);
        fuzz::always(table.find(start)->name == symbol.name);
        for (const auto address : {start - 1, start, start + 1, start + symbol.size - 1, start + symbol.size}) {
            for (const std::int64_t kaslr_offset : {std::int64_t{0}, std::int64_t{0x1b400000}, std::int64_t{-4096}}) {
                check_answer(table, address, {symbols::AddressKind::exact, kaslr_offset});
                check_answer(table, address, {symbols::AddressKind::return_address, kaslr_offset});
            }
        }
    }
}

/// The lines by address; those of one address stay as they are.
std::string by_address(std::string_view text) {
    auto lines = base::split(text, '\n');
    std::erase_if(lines, [](std::string_view line) { return base::trim(line).empty(); });
    std::ranges::stable_sort(lines, {}, [](std::string_view line) {
        if (line.starts_with("0x") || line.starts_with("0X")) line.remove_prefix(2);
        return base::to_unsigned(line.substr(0, line.find_first_not_of("0123456789abcdefABCDEF")), 16);
    });
    std::string sorted;
    for (const auto line : lines)
        sorted.append(line).append(1, '\n');
    return sorted;
}

bool same_markers(const symbols::Markers& a, const symbols::Markers& b) {
    return a.text == b.text && a.stext == b.stext && a.etext == b.etext && a.sinittext == b.sinittext &&
           a.einittext == b.einittext;
}

/// The order of the lines does not matter. (Of a mark that is there twice the last one counts.)
void check_order(const SymbolTable& table, std::string_view text) {
    const auto sorted = SymbolTable::parse(by_address(text), "sorted");
    if (!sorted || !same_markers(table.markers(), sorted->markers())) return;
    fuzz::always(table.size() == sorted->size());
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto a = table.function(i), b = sorted->function(i);
        fuzz::always(a.start == b.start && symbols::to_string(a.symbol) == symbols::to_string(b.symbol));
    }
}

}  // namespace

FUZZ_TARGET(symbol_table) {
    const auto text = fuzz::text_of(data, size);
    const auto table = SymbolTable::parse(std::string(text), "fuzzed");
    if (!table) {
        fuzz::always(table.error().kind == base::ErrorKind::bad_input && !table.error().what.empty());
        return 0;
    }
    check_answers(*table);
    check_order(*table, text);
    if (const auto kaslr_offset = symbols::kaslr_offset_between(*table, *table)) fuzz::always(*kaslr_offset == 0);
    return 0;
}
