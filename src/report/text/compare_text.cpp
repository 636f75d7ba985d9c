// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/model/account_text.h"
#include "report/model/texts.h"
#include "report/text/sections.h"

namespace stapgen::report {

namespace {

using analyze::Change;
using analyze::Verdict;

std::string change_cell(const Change& change) {
    if (change.verdict == Verdict::same) return "~";
    return change.verdict == Verdict::too_few || !change.change ? "-" : change_percent(*change.change) + "%";
}

/// Whole ns until a tenth of a second is among them, as in reports.
Style style_of(const std::vector<Change>& changes) {
    double largest = 0;
    for (const auto& change : changes)
        largest = std::max({largest, change.before_ns.value_or(0), change.after_ns.value_or(0)});
    return {.decimals = largest < 1e8 ? 3 : 2};
}

void write_legend(std::ostream& out, const analyze::Comparison& comparison) {
    const auto any = [&](Verdict verdict) {
        return std::ranges::any_of(comparison.changes, [&](const Change& change) { return change.verdict == verdict; });
    };
    if (any(Verdict::same))
        out << "~: no significant difference (P, corrected for the number of rows, is 0.05 or more)\n";
    if (any(Verdict::too_few)) out << "-: not enough samples or blocks of time; record longer\n";
    if (any(Verdict::untested)) out << "A change without an interval was not tested: its values have no times\n";
    out << blocks_text(comparison) << '\n';
}

void write(std::ostream& out, const Compared& compared) {
    const auto& comparison = compared.comparison;
    for (const auto& field : comparison.group)
        out << base::printable(field.key) << ' ' << group_text(field) << '\n';
    for (const auto& [side, summary] : {std::pair("before", &compared.before), {"after", &compared.after}}) {
        if (const auto text = definition_text(*summary); !text.empty()) out << side << ": " << text << '\n';
    }
    out << base::printable(comparison_sentence(comparison)) << "\n\n";
    const auto style = style_of(comparison.changes);
    Table table{
        "", {{"STAGE [us]", Kind::head}, {"STAT", Kind::text}, {"BEFORE"}, {"AFTER"}, {"CHANGE"}, {"95% CI"}, {"P"}}};
    const std::string* stage = nullptr;
    for (const auto& change : comparison.changes) {
        const bool is_first = stage == nullptr || *stage != change.stage;
        stage = &change.stage;
        table.rows.push_back(
            {{is_first ? change.stage : ""},
             {statistic(change)},
             {style.cell(change.before_ns)},
             {style.cell(change.after_ns)},
             {change_cell(change)},
             {change.low ? fmt::format("[{}%, {}%]", change_percent(*change.low), change_percent(*change.high)) : "-"},
             {p_text(change.p)}});
    }
    out << text_of(table) << '\n';
    write_legend(out, comparison);
    for (const auto& warning : comparison.warnings)
        out << "WARNING: " << base::printable(warning) << '\n';
}

}  // namespace

void write_comparisons(std::ostream& out, std::span<const Compared> all, const Options& /*options*/) {
    for (const auto& compared : all) {
        if (&compared != &all.front()) out << '\n';
        write(out, compared);
    }
}

}  // namespace stapgen::report
