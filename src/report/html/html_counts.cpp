// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "base/saturate.h"
#include "base/text.h"
#include "report/html/html_sections.h"
#include "report/model/account_text.h"
#include "report/model/layout.h"
#include "report/model/results.h"

namespace stapgen::report::html {

namespace {

std::string unit_of(const analyze::Average& average) {
    return average.is_time ? average.name + " [us]" : average.name;
}

}  // namespace

Table bounded(Table table) {
    if (table.rows.size() <= max_rows) return table;
    table.below = fmt::format("and {} more rows; --format json or csv has all", table.rows.size() - max_rows);
    table.rows.resize(max_rows);
    return table;
}

Section tallies_section(const Report& report) {
    Section section{"counts", "Counts"};
    const auto& summary = report.summary;
    if (summary.counted.empty()) return section;
    section.paragraphs.push_back(counts_title(summary, report.counts));
    if (report.counts.empty()) return section;
    const auto add = [&](const std::vector<analyze::Tally>& tallies, table::Scope scope, std::string caption) {
        const auto sum = summary.mixed_units ? std::nullopt : std::optional(analyze::sum_of(tallies));
        section.tables.push_back(bounded(laid_out(counts_table(report, tallies, scope), std::move(caption), sum)));
    };
    add(report.counts, table::Scope::whole, "The whole");
    if (summary.intervals.size() > 1) add(summary.tallies, table::Scope::intervals, "In each interval");
    return section;
}

Section averages_section(const analyze::Summary& summary) {
    Section section{"averages", "Averages"};
    if (summary.averages.empty()) return section;
    section.paragraphs.push_back(
        "The input has means only, no distribution. The true mean differs by the error at most.");
    Table whole{"Averages of the whole", {{"NAME", Kind::head}, {"N"}, {"MEAN"}, {"ERROR"}}};
    for (const auto& average : summary.averages) {
        const Style style{average.is_time, 3};
        whole.rows.push_back({{unit_of(average)},
                              {fmt::format("{}", average.n)},
                              {style.cell(average.mean)},
                              {style.cell(average.error)}});
    }
    section.tables.push_back(std::move(whole));

    Table intervals{"Averages of each interval", {{"LINE"}, {"N"}}};
    intervals.folded = true;
    for (const auto& average : summary.averages)
        intervals.columns.push_back({unit_of(average)});
    for (const auto& interval : summary.average_intervals) {
        auto& row = intervals.rows.emplace_back();
        row.push_back({fmt::format("{}", interval.line)});
        row.push_back({fmt::format("{}", interval.n)});
        for (const auto& average : interval.averages) {
            const Style style{average.is_time, 3};
            row.push_back({style.cell(average.mean), fmt::format("off by {} at most", style.cell(average.error))});
        }
        row.resize(intervals.columns.size());
    }
    if (!intervals.rows.empty()) section.tables.push_back(bounded(std::move(intervals)));
    return section;
}

Section account_section(const analyze::Summary& summary) {
    const auto& accounting = summary.accounting;
    Section section{"account", "The account"};
    section.paragraphs = account_lines(summary);
    for (auto& line : not_understood(summary.input))
        section.paragraphs.push_back(std::move(line));

    if (is_sum_of_units(summary)) return section;
    Table table{"Account of everything seen", {{"", Kind::head}, {"COUNT"}, {"SHARE OF SEEN", Kind::text}}};
    const auto add = [&](const std::string& name, std::int64_t count) {
        table.rows.push_back({{name}, {fmt::format("{}", count)}, part_cell(count, accounting.seen)});
    };
    add("reported", accounting.reported);
    add("filtered", accounting.filtered);
    for (const auto& [name, count] : accounting.incomplete)
        if (count != 0) add("incomplete: " + name, count);
    for (const auto& [name, count] : accounting.lost)
        if (count != 0) add("lost: " + name, count);
    if (accounting.unaccounted() != 0) add("unaccounted", accounting.unaccounted());
    section.tables.push_back(std::move(table));
    return section;
}

}  // namespace stapgen::report::html
