// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <utility>

#include "show/html/html_sections.h"
#include "show/model/layout.h"

namespace stapgen::show::html {

namespace {

/// The column "mean" or "error" of averages; of a time in us.
std::string mean_text(const table::Table& averages, const table::Row& row, const std::string& column) {
    const auto ns = table::known<double>(averages.at(row, column + "_ns"));
    return ns ? Style().cell(ns) : fmt::format("{:.3f}", table::real_of(averages.at(row, column)));
}

/// A row for each interval, a column for each average.
Table average_intervals(const table::Results& results) {
    const auto& whole = results.at("averages");
    const auto& intervals = results.at("average_intervals");
    const auto& averages = results.at("average_intervals.averages");
    Table table{"Averages of each interval", {{"LINE"}, {"N"}}};
    table.folded = true;
    for (const auto& row : whole.rows) {
        const bool is_time = table::held<double>(whole.at(row, "mean_ns")) != nullptr;
        table.columns.push_back({table::text_of(row.front()) + (is_time ? " [us]" : "")});
    }
    auto average = averages.rows.begin();
    for (const auto& interval : intervals.rows) {
        auto& row = table.rows.emplace_back();
        for (const auto* column : {"line", "n"})
            row.push_back({fmt::format("{}", table::count_of(intervals.at(interval, column)))});
        for (; average != averages.rows.end() && average->front() == interval.front(); ++average) {
            row.push_back({mean_text(averages, *average, "mean"),
                           fmt::format("off by {} at most", mean_text(averages, *average, "error"))});
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

Section tallies_section(const table::Results& results) {
    Section section{"counts", "Counts", results.sentences("counts")};
    const auto& whole = results.at("counts");
    if (whole.rows.empty()) return section;
    const auto add = [&](const table::Table& counts, std::string caption) {
        const auto sum = results.fact("counting", "mixed_units") == table::Value(true)
                             ? std::nullopt
                             : std::optional(sum_of(counts, "count"));
        section.tables.push_back(bounded(laid_out(counts, std::move(caption), sum)));
    };
    add(whole, "The whole");
    if (results.at("intervals").rows.size() > 1) add(results.at("counts", table::Scope::intervals), "In each interval");
    return section;
}

Section averages_section(const table::Results& results) {
    Section section{"averages", "Averages"};
    if (results.at("averages").rows.empty()) return section;
    section.paragraphs.push_back(
        "The input has means only, no distribution. The true mean differs by the error at most.");
    section.tables.push_back(laid_out(results.at("averages"), "Averages of the whole"));
    if (auto intervals = average_intervals(results); !intervals.rows.empty())
        section.tables.push_back(bounded(std::move(intervals)));
    return section;
}

Section ledger_section(const table::Results& results) {
    Section section{"ledger", "The ledger", results.sentences("ledger")};
    if (!results.at("ledger").rows.empty())
        section.tables.push_back(laid_out(results.at("ledger"), "What became of received packets"));
    return section;
}

Section who_section(const table::Results& results) {
    Section section{"who", "What threads waited for", results.sentences("who")};
    if (!results.at("who").rows.empty())
        section.tables.push_back(bounded(laid_out(results.at("who"), "The worst first")));
    return section;
}

Section account_section(const table::Results& results) {
    Section section{"account", "The account", results.sentences("account")};
    for (auto& line : results.sentences("not_understood"))
        section.paragraphs.push_back(std::move(line));
    const auto count = [&](std::string_view column) { return table::count_of(results.fact("accounting", column)); };
    // A sum of bytes, packets and times says nothing.
    if (results.fact("counting", "mixed_units") == table::Value(true) && count("lost") == 0 &&
        count("unaccounted") == 0)
        return section;
    Table table{"Account of everything seen", {{"", Kind::head}, {"COUNT"}, {"SHARE OF SEEN", Kind::text}}};
    const auto add = [&](const std::string& name, std::int64_t part) {
        table.rows.push_back({{name}, {fmt::format("{}", part)}, part_cell(part, count("seen"))});
    };
    const auto add_causes = [&](std::string_view name, std::string_view causes) {
        for (const auto& row : results.at(causes).rows)
            if (const auto part = table::count_of(row[1]); part != 0)
                add(fmt::format("{}: {}", name, table::text_of(row[0])), part);
    };
    add("reported", count("reported"));
    add("filtered", count("filtered"));
    add_causes("incomplete", "accounting.incomplete_by");
    add_causes("lost", "accounting.lost_by");
    if (count("unaccounted") != 0) add("unaccounted", count("unaccounted"));
    section.tables.push_back(std::move(table));
    return section;
}

}  // namespace stapgen::show::html
