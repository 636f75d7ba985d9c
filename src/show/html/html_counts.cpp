// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <utility>

#include "base/saturate.h"
#include "show/html/html_sections.h"
#include "show/model/layout.h"
#include "table/merge.h"

namespace stapgen::show::html {

namespace {

/// A mean or an error; of a time in us.
std::string mean_text(const std::optional<double>& ns, const std::optional<double>& number) {
    return ns ? Style().cell(ns) : fmt::format("{:.3f}", number.value_or(0));
}

/// A row for each interval, a column for each average.
Table average_intervals(const rows::Results& results) {
    Table table{"Averages of each interval", {{"LINE"}, {"N"}}};
    table.folded = true;
    for (const auto& average : results.of<rows::Average>())
        table.columns.push_back({average.name + (average.mean_ns ? " [us]" : "")});
    for (const auto& interval : results.of<rows::AverageInterval>()) {
        auto& row = table.rows.emplace_back();
        row.push_back({fmt::format("{}", interval.line)});
        row.push_back({fmt::format("{}", interval.n)});
        for (const auto& average : interval.averages) {
            row.push_back({mean_text(average.mean_ns, average.mean),
                           fmt::format("off by {} at most", mean_text(average.error_ns, average.error))});
        }
        row.resize(table.columns.size());
    }
    return table;
}

}  // namespace

Table bounded(Table table) {
    if (table.rows.size() <= max_rows) return table;
    table.below = fmt::format("and {} more rows; --format json or csv has all", table.rows.size() - max_rows);
    table.rows.resize(max_rows);
    return table;
}

void draw(Section& to, const Sheet& sheet) {
    to.paragraphs = sheet.sentences;
    to.tables.push_back(bounded(sheet.table));
}

void draw(Section& to, section::Counts /*section*/, const Report& of) {
    const auto& results = of.results;
    to.paragraphs = {results.sentences.counts};
    const auto& whole = results.of<rows::Count>();
    if (whole.empty()) return;
    const auto sum = results.one<rows::Counting>().mixed_units
                         ? std::nullopt
                         : std::optional(base::saturating_sum(whole, &rows::Count::count));
    to.tables.push_back(bounded(laid_out(whole, "The whole", sum)));
    if (results.of<rows::Interval>().size() < 2) return;
    auto of_intervals = results.of<rows::OfInterval<rows::Count>>();
    for (auto& row : of_intervals)
        row.meaning.reset();  // the table of the whole says it once
    to.tables.push_back(bounded(laid_out(of_intervals, "In each interval", sum)));
}

void draw(Section& to, section::Averages section, const Report& of) {
    draw(to, section.sheet(of.results));
    if (auto intervals = average_intervals(of.results); !intervals.rows.empty())
        to.tables.push_back(bounded(std::move(intervals)));
}

void draw(Section& to, section::Account /*section*/, const Report& of) {
    const auto& results = of.results;
    to.paragraphs = results.sentences.account;
    for (const auto& line : results.sentences.not_understood)
        to.paragraphs.push_back(line);
    const auto& account = results.one<rows::Accounting>();
    // A sum of bytes, packets and times says nothing.
    if (results.one<rows::Counting>().mixed_units && account.lost == 0 && account.unaccounted == 0) return;
    Table table{"Account of everything seen", {{"", Kind::head}, {"COUNT"}, {"SHARE OF SEEN", Kind::text}}};
    const auto add = [&](const std::string& name, std::int64_t part) {
        table.rows.push_back({{name}, {fmt::format("{}", part)}, part_cell(part, account.seen)});
    };
    const auto add_causes = [&](std::string_view what, const std::vector<rows::Cause>& causes) {
        for (const auto& [name, count] : causes)
            if (count != 0) add(fmt::format("{}: {}", what, name), count);
    };
    add("reported", account.reported);
    add("filtered", account.filtered);
    add_causes("incomplete", account.incomplete_by);
    add_causes("lost", account.lost_by);
    if (account.unaccounted != 0) add("unaccounted", account.unaccounted);
    to.tables.push_back(std::move(table));
}

}  // namespace stapgen::show::html
