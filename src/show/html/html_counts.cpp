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

table::Texts paragraphs_of(const std::string& sentence) {
    return sentence.empty() ? table::Texts() : table::Texts{sentence};
}

Table bounded(Table table) {
    if (table.rows.size() <= max_rows) return table;
    table.below = fmt::format("and {} more rows; --format json or csv has all", table.rows.size() - max_rows);
    table.rows.resize(max_rows);
    return table;
}

Section tallies_section(const rows::Results& results) {
    Section section{"counts", "Counts", paragraphs_of(results.sentences.counts)};
    const auto& whole = results.of<rows::Count>();
    if (whole.empty()) return section;
    const auto sum = results.one<rows::Counting>().mixed_units
                         ? std::nullopt
                         : std::optional(base::saturating_sum(whole, &rows::Count::count));
    section.tables.push_back(bounded(laid_out(whole, "The whole", sum)));
    if (results.of<rows::Interval>().size() < 2) return section;
    auto of_intervals = results.of<rows::OfInterval<rows::Count>>();
    for (auto& row : of_intervals)
        row.meaning.reset();  // the table of the whole says it once
    section.tables.push_back(bounded(laid_out(of_intervals, "In each interval", sum)));
    return section;
}

Section averages_section(const rows::Results& results) {
    Section section{"averages", "Averages"};
    if (results.of<rows::Average>().empty()) return section;
    section.paragraphs.push_back(
        "The input has means only, no distribution. The true mean differs by the error at most.");
    section.tables.push_back(laid_out(results.of<rows::Average>(), "Averages of the whole"));
    if (auto intervals = average_intervals(results); !intervals.rows.empty())
        section.tables.push_back(bounded(std::move(intervals)));
    return section;
}

Section ledger_section(const rows::Results& results) {
    Section section{"ledger", "The ledger", results.sentences.ledger};
    if (!results.of<rows::Ledger>().empty())
        section.tables.push_back(laid_out(results.of<rows::Ledger>(), "What became of received packets"));
    return section;
}

Section who_section(const rows::Results& results) {
    Section section{"who", "What threads waited for", paragraphs_of(results.sentences.who)};
    if (!results.of<rows::Who>().empty())
        section.tables.push_back(bounded(laid_out(results.of<rows::Who>(), "The worst first")));
    return section;
}

Section account_section(const rows::Results& results) {
    Section section{"account", "The account", results.sentences.account};
    for (const auto& line : results.sentences.not_understood)
        section.paragraphs.push_back(line);
    const auto& account = results.one<rows::Accounting>();
    // A sum of bytes, packets and times says nothing.
    if (results.one<rows::Counting>().mixed_units && account.lost == 0 && account.unaccounted == 0) return section;
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
    section.tables.push_back(std::move(table));
    return section;
}

}  // namespace stapgen::show::html
