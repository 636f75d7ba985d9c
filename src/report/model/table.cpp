// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/model/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "report/model/layout.h"
#include "report/model/results.h"
#include "report/model/slow_records.h"

namespace stapgen::report {

using analyze::Drop;
using analyze::Tally;

std::string key_name(const std::string& key) {
    return base::upper(base::printable(key));
}

namespace {

/// None for a total, which is no part of a bar.
std::optional<std::size_t> colour_of(const analyze::Summary& summary, const std::string& stage) {
    const auto has_stage = [&](const analyze::Breakdown& breakdown) {
        return std::ranges::find(breakdown.stages(), stage) != breakdown.stages().end();
    };
    if (std::ranges::none_of(summary.breakdowns, has_stage)) return std::nullopt;
    return colour_of_stage(summary, stage);
}

Cell number_cell(std::int64_t number) {
    return {fmt::format("{}", number)};
}

/// Whether most of the extra time of the slowest records is in it.
bool is_time_of_tail(const Report& report, const std::string& stage) {
    return std::ranges::any_of(report.directions, [&](const DirectionReport& direction) {
        return direction.tail && stage_of_tail(*direction.tail) == stage;
    });
}

const analyze::Group& group_of(const Row& row) {
    return row.measure->group;
}

bool is_number(const Rows& rows, const std::string& key) {
    return std::ranges::all_of(rows, [&](const Row& row) {
        const auto* field = find_field(group_of(row), key);
        return field == nullptr || std::holds_alternative<std::int64_t>(field->value);
    });
}

/// Whether this key alone says of each row what group it is of.
bool are_distinct(const Rows& rows, const std::string& key) {
    std::set<std::pair<std::string, std::string>> seen;
    return std::ranges::all_of(rows, [&](const Row& row) {
        const auto* field = find_field(group_of(row), key);
        return is_other(group_of(row)) ||
               (field != nullptr && seen.emplace(group_text(*field), row.measure->name).second);
    });
}

std::vector<Column> measure_columns(const Report& report, const Rows& rows, const std::vector<std::string>& keys,
                                    bool is_time) {
    std::vector<Column> columns;
    const bool by_container = are_distinct(rows, "container");
    for (const auto& key : keys) {
        // A container is a cgroup, whose path is longer than a line, and a namespace.
        const bool is_part = by_container && (key == "cgroup" || key == "netns");
        columns.push_back(
            {key_name(key), is_number(rows, key) ? Kind::number : Kind::text, is_part ? In::page : In::all});
    }
    columns.push_back({.name = is_time ? "STAGE" : "VALUE", .kind = Kind::head, .unit = is_time ? "us" : ""});
    if (is_time)
        columns.push_back(
            {report.share_is_of_direction ? "SHARE OF DIRECTION" : "SHARE OF TIME", Kind::text, In::page});
    columns.insert(columns.end(), {{"N"},
                                   {.name = "MEAN", .leaves = 1},
                                   {"SD", Kind::number, In::text, Extra::stddev},
                                   {"MIN", Kind::number, In::text, Extra::min}});
    for (const auto& percentile : report.options.percentiles) {
        columns.push_back({"P" + percentile.text});
        columns.push_back({"[95 %]", Kind::number, In::text, Extra::intervals});
    }
    columns.push_back({.name = "MAX", .leaves = 2});
    if (is_time) columns.push_back({.name = "SHARE", .in = In::text, .leaves = 3});
    columns.push_back({"SUM", Kind::number, In::text, Extra::sum, is_time ? "ms" : ""});
    return columns;
}

void add_stats(std::vector<Cell>& row, const table::Histogram& stats, const Style& style,
               const std::vector<table::Percentile>& percentiles) {
    const auto stddev = style.cell(stats.stddev()), min = style.cell(stats.min());
    const auto sum = style.is_time ? fmt::format("{:.3f}", stats.sum() / 1e6) : fmt::format("{:.0f}", stats.sum());
    row.push_back(number_cell(stats.n()));
    row.push_back({style.cell(stats.mean()), fmt::format("standard deviation {}, minimum {}, sum {}{}", stddev, min,
                                                         sum, style.is_time ? " ms" : "")});
    row.push_back({stddev});
    row.push_back({min});
    for (const auto& [text, percent] : percentiles) {
        const auto interval = stats.confidence(percent);
        row.push_back({style.cell(stats.percentile(percent)),
                       interval ? fmt::format("P{}: 95 % confidence {} to {}", text, style.cell(interval->low),
                                              style.cell(interval->high))
                                : fmt::format("P{}: needs {} values", text, table::values_needed(percent))});
        row.push_back({interval_text(interval, style)});
    }
    row.push_back({style.cell(stats.max())});
    row.push_back({sum});
}

/// The row of a counter that fell says nothing of how far it rose.
bool is_fall(const Tally& tally) {
    const auto* name = tally.name();
    return name != nullptr && name->starts_with("reset.");
}

bool is_loss(const Tally& tally) {
    return tally.loss || tally.loss_by_name;
}

}  // namespace

std::size_t colour_of_stage(const analyze::Summary& summary, const std::string& stage) {
    std::size_t place = 0;
    for (const auto& breakdown : summary.breakdowns) {
        const auto found = std::ranges::find(breakdown.stages(), stage);
        place += static_cast<std::size_t>(found - breakdown.stages().begin());
        if (found != breakdown.stages().end()) break;
    }
    return place;
}

Cell bar_cell(double part, std::optional<std::size_t> colour) {
    return {.text = percent(part), .bar = part, .colour = colour};
}

Cell part_cell(std::int64_t count, std::int64_t all) {
    return bar_cell(all > 0 ? static_cast<double>(count) / static_cast<double>(all) : 0);
}

std::string interval_text(const std::optional<table::Histogram::Interval>& interval, const Style& style) {
    return interval ? fmt::format("[{}, {}]", style.cell(interval->low), style.cell(interval->high)) : "-";
}

Table measures_table(const Report& report, const Rows& rows, const Style& style, const std::optional<Trend>& trend) {
    const auto& percentiles = report.options.percentiles;
    // Groups of several recordings may have different keys.
    const auto keys = keys_of(rows, group_of);
    Table table{fmt::format("{}{}{}", style.is_time ? "Stages" : "Values", keys.empty() ? "" : " by group",
                            style.is_time ? ", in microseconds" : ""),
                measure_columns(report, rows, keys, style.is_time)};
    if (trend) table.columns.push_back({"TREND", Kind::text, In::text, Extra::trend});
    const analyze::Group* last = nullptr;
    for (const auto& [measure, share, is_rest] : rows) {
        const auto& [name, group, stats] = *measure;
        const auto colour = colour_of(report.summary, name);
        const bool repeated = last != nullptr && *last == group;
        last = &group;
        auto& row = table.rows.emplace_back();
        for (const auto& key : keys) {
            const auto text = key_cell(group, key, key == keys.front());
            row.push_back({.text = is_rest && !text.empty() ? "rest" : text,
                           .mark = repeated ? "repeated" : "",
                           .is_absent = text.empty() && find_field(group, key) == nullptr});
        }
        const bool is_slow = keys.empty() && is_time_of_tail(report, name);
        row.push_back({.text = name,
                       .colour = keys.empty() ? colour : std::nullopt,
                       .ink = is_slow ? base::Ink::strong : base::Ink::plain});
        if (style.is_time) row.push_back(share ? bar_cell(*share, colour) : Cell());
        add_stats(row, stats, style, percentiles);
        const auto share_text = share ? fmt::format("{:.1f}%", *share * 100) : "-";
        if (style.is_time) row.insert(row.end() - 1, {share_text});
        if (trend) row.push_back({trend->text(report.summary, *measure)});
    }
    table.below = too_few_text(rows, percentiles);
    return table;
}

Cell reason_cell(const Drop& drop) {
    const auto advice = advice_of(drop);
    auto reason = reason_text(drop.reason);
    if (!advice.benign) return {.text = std::move(reason), .title = std::string(advice.text)};
    return {.text = fmt::format("{} {}", reason, benign_mark), .title = std::string(advice.text), .mark = "benign"};
}

bool any_benign(std::span<const Drop> drops) {
    return std::ranges::any_of(drops, [](const Drop& drop) { return advice_of(drop).benign; });
}

std::string key_cell(const analyze::Group& group, const std::string& key, bool is_first) {
    if (const auto* field = find_field(group, key)) return group_text(*field);
    return is_first && is_other(group) ? "other" : "";
}

Table losses_table(const analyze::Summary& summary) {
    auto counters = counters_table(summary);
    std::erase_if(counters.rows, [&](const auto& row) { return table::count_of(counters.at(row, "count")) <= 0; });
    return laid_out(counters, "Losses without a drop event, by the kernel's counters of this network namespace");
}

std::string_view loss_cell(const Tally& tally) {
    return tally.loss ? "lost" : tally.loss_by_name ? "by name" : "";
}

std::string counts_title(const analyze::Summary& summary, std::span<const Tally> totals) {
    if (!summary.mixed_units)
        return fmt::format("total: {} {}", analyze::sum_of(totals), base::printable(summary.counted));
    const auto fell = std::ranges::count_if(totals, is_fall), losses = std::ranges::count_if(totals, is_loss);
    if (summary.levels)
        return fmt::format("{} of {} counters count losses and are not 0", losses, summary.counters_read);
    const auto rose = std::ssize(totals) - fell;
    auto title = summary.counters_read > 0 ? fmt::format("{} of {} counters", rose, summary.counters_read)
                                           : fmt::format("{} counter{}", rose, rose == 1 ? "" : "s");
    title += fmt::format(" rose; {} of them count losses", losses);
    if (fell > 0) title += fmt::format("; {} fell", fell);
    return title;
}

std::vector<std::pair<std::string, std::string>> meanings_of(std::span<const Tally> tallies) {
    std::vector<std::pair<std::string, std::string>> meanings;
    for (const auto& tally : tallies) {
        if (tally.meaning.empty() || tally.group.empty()) continue;
        if (std::ranges::find(meanings, tally.meaning, &std::pair<std::string, std::string>::second) == meanings.end())
            meanings.emplace_back(group_text(tally.group.front()), tally.meaning);
    }
    return meanings;
}

}  // namespace stapgen::report
