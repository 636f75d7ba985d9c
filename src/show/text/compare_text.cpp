// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "show/model/texts.h"
#include "show/text/sections.h"

namespace stapgen::show {

namespace {

using study::Change;
using study::Verdict;

std::string change_cell(const Change& change) {
    if (change.verdict == Verdict::same) return "~";
    return change.verdict == Verdict::too_few || !change.change ? "-" : change_percent(*change.change) + "%";
}

/// Whole ns until a tenth of a second is among them, as in reports.
Style style_of_changes(const std::vector<Change>& changes) {
    double largest = 0;
    for (const auto& change : changes)
        largest = std::max({largest, change.before_ns.value_or(0), change.after_ns.value_or(0)});
    return {.decimals = largest < 1e8 ? 3 : 2};
}

base::Ink ink_of(const Change& change) {
    if (change.verdict == Verdict::slower) return base::Ink::bad;
    return change.verdict == Verdict::faster ? base::Ink::good : base::Ink::plain;
}

/// Of the stage that changed most.
base::Ink ink_of(const study::Comparison& comparison) {
    const auto any = [&](Verdict verdict) {
        return std::ranges::any_of(comparison.changes, [&](const Change& change) { return change.verdict == verdict; });
    };
    return comparison.has_regression() || any(Verdict::slower) ? base::Ink::bad
           : any(Verdict::faster)                              ? base::Ink::good
                                                               : base::Ink::plain;
}

void write_legend(std::ostream& out, const study::Comparison& comparison, std::size_t width) {
    const auto any = [&](Verdict verdict) {
        return std::ranges::any_of(comparison.changes, [&](const Change& change) { return change.verdict == verdict; });
    };
    const auto say = [&](const std::string& text) { out << base::fitted(text, width) << '\n'; };
    if (any(Verdict::same)) say("~: no significant difference (P, corrected for the number of rows, is 0.05 or more)");
    if (any(Verdict::too_few)) say("-: not enough samples or blocks of time; record longer");
    if (any(Verdict::untested))
        say("A change without an interval was not tested: only the whole run's values are known");
    if (!comparison.parts.empty()) say("Parts of a stage: the time of each per record of the stage; not tested");
    if (!comparison.failures.empty()) say("Failures: P is of the share of all, by itself; causes are not tested");
    say(blocks_text(comparison));
}

void write_failures(std::ostream& out, const study::Comparison& comparison, const base::Screen& screen) {
    if (comparison.failures.empty()) return;
    Table table{"", {{"FAILED", Kind::head}, {"BEFORE"}, {"SHARE"}, {"AFTER"}, {"SHARE"}, {"P"}}};
    for (const auto& change : comparison.failures) {
        table.rows.push_back(
            {{change.cause.empty() ? "all" : change.cause},
             {fmt::format("{}", change.before)},
             {share_text(change.before_share)},
             {.text = fmt::format("{}", change.after), .ink = change.is_regression ? base::Ink::bad : base::Ink::plain},
             {share_text(change.after_share)},
             {p_text(change.p)}});
    }
    out << text_of(table, screen) << '\n';
}

void write(std::ostream& out, const Compared& compared, const base::Screen& screen) {
    const auto& comparison = compared.comparison;
    for (const auto& field : comparison.group)
        out << base::printable(field.key) << ' ' << group_text(field) << '\n';
    for (const auto& [side, results] : {std::pair("before", &compared.before), {"after", &compared.after}}) {
        if (const auto& text = results->sentences.definition; !text.empty())
            out << base::fitted(fmt::format("{}: {}\n", side, text), screen.width);
    }
    out << painted(base::fitted(base::printable(comparison.sentence()), screen.width), ink_of(comparison), screen)
        << "\n\n";
    const auto style = style_of_changes(comparison.changes);
    Table table{"",
                {{"STAGE [us]", Kind::head},
                 {"STAT", Kind::text},
                 {"BEFORE"},
                 {"AFTER"},
                 {"CHANGE"},
                 {.name = "95% CI", .leaves = 2},
                 {.name = "P", .leaves = 1}}};
    const auto& changes = comparison.changes;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const auto& change = changes[i];
        const bool is_first = i == 0 || changes[i - 1].stage != change.stage;
        table.rows.push_back(
            {{is_first ? change.stage : ""},
             {statistic(change)},
             {style.cell(change.before_ns)},
             {style.cell(change.after_ns)},
             {.text = change_cell(change), .ink = ink_of(change)},
             {change.low ? fmt::format("[{}%, {}%]", change_percent(*change.low), change_percent(*change.high)) : "-"},
             {p_text(change.p)}});
        if (i + 1 < changes.size() && changes[i + 1].stage == change.stage) continue;
        for (const auto& part : comparison.parts) {
            if (part.stage != change.stage) continue;
            table.rows.push_back({{"  " + part.cause},
                                  {"mean"},
                                  {style.cell(part.before_ns)},
                                  {style.cell(part.after_ns)},
                                  {"-"},
                                  {"-"},
                                  {"-"}});
        }
    }
    out << text_of(table, screen) << '\n';
    write_failures(out, comparison, screen);
    write_legend(out, comparison, screen.width);
    for (const auto& warning : comparison.warnings)
        write_warning(out, base::printable(warning), screen);
}

}  // namespace

void write_comparisons(std::ostream& out, std::span<const Compared> all, const Options& options) {
    for (const auto& compared : all) {
        if (&compared != &all.front()) out << '\n';
        write(out, compared, options.screen);
    }
}

}  // namespace stapgen::show
