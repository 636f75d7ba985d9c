// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kaslr/kaslr_offset.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fuzz.h"
#include "symbols/files/symbol_table.h"
#include "symbols/kaslr/drop_functions.h"

namespace {

using namespace stapgen;

void check(const symbols::KaslrFinding& finding, const std::set<std::uint64_t>& addresses,
           const symbols::DropFunctions& functions) {
    fuzz::always(!finding.explanation.empty());
    fuzz::always(finding.functions == functions.size());
    fuzz::always(finding.candidates.size() == std::min<std::size_t>(finding.candidate_count, 20));
    fuzz::always(finding.addresses + finding.in_modules <= addresses.size());
    fuzz::always(finding.expected_by_chance >= 0);
    if (finding.kaslr_offset) {
        fuzz::always(finding.candidates == std::vector{*finding.kaslr_offset} && finding.addresses > 0);
    }
    // What is said to fit does fit.
    for (const auto kaslr_offset : finding.candidates) {
        const auto fitting = std::ranges::count_if(addresses, [&](std::uint64_t address) {
            return functions.contains(address - static_cast<std::uint64_t>(kaslr_offset));
        });
        fuzz::always(static_cast<std::size_t>(fitting) >= finding.addresses);
    }
}

}  // namespace

/// A symbol table, a NUL, how many addresses, these in 8 bytes each.
FUZZ_TARGET(kaslr_offset) {
    auto rest = fuzz::text_of(data, size);
    const auto text = rest.substr(0, rest.find('\0'));
    const auto table = symbols::SymbolTable::parse(std::string(text), "fuzzed");
    if (!table || rest.size() < text.size() + 2) return 0;
    rest.remove_prefix(text.size() + 1);
    std::vector<std::uint64_t> addresses(std::min<std::size_t>((rest.size() - 1) / 8, data[text.size() + 1] % 32U));
    if (!addresses.empty()) std::memcpy(addresses.data(), rest.data() + 1, 8 * addresses.size());

    const symbols::DropFunctions functions(*table);
    fuzz::always(std::ranges::is_sorted(functions.ranges(), {}, &symbols::DropFunctions::Range::begin));
    const auto finding = symbols::infer_kaslr_offset(addresses, functions, *table, false);
    check(finding, {addresses.begin(), addresses.end()}, functions);
    std::ranges::reverse(addresses);
    fuzz::always(symbols::infer_kaslr_offset(addresses, functions, *table, false).kaslr_offset == finding.kaslr_offset);
    const auto trusted = symbols::infer_kaslr_offset(addresses, functions, *table, true);
    fuzz::always(!finding.kaslr_offset || trusted.kaslr_offset == finding.kaslr_offset);
    return 0;
}
