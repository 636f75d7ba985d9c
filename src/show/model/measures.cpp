// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "schema/schema.h"
#include "show/model/table.h"

namespace stapgen::show {

namespace {

using All = std::vector<MeasureRow>;

const table::Group& group_of(const MeasureRow& row) {
    return row.group;
}

bool is_time(const table::Table& rows) {
    return rows.find(table::Type::distribution).has_value();
}

std::int64_t n_of(const table::Table& ways, const table::Row& row) {
    return table::count_of(ways.at(row, "n"));
}

bool are_several_directions(const table::Results& results) {
    const auto& ways = results.at("ways");
    return std::ranges::count_if(ways.rows, [&](const table::Row& row) { return n_of(ways, row) > 0; }) > 1;
}

/// Whether most of the extra time of the slowest records is in it.
bool is_time_of_tail(const table::Results& results, const std::string& stage) {
    const auto& ways = results.at("ways");
    return std::ranges::any_of(
        ways.rows, [&](const table::Row& row) { return ways.at(row, "tail_stage") == table::Value(stage); });
}

bool is_number(const All& rows, const std::string& key) {
    return std::ranges::all_of(rows, [&](const MeasureRow& row) {
        const auto* field = find_field(group_of(row), key);
        return field == nullptr || std::holds_alternative<std::int64_t>(field->value);
    });
}

/// Whether this key alone says of each row what group it is of.
bool are_distinct(const All& rows, const std::string& key) {
    std::set<std::pair<std::string, std::string>> seen;
    return std::ranges::all_of(rows, [&](const MeasureRow& row) {
        const auto* field = find_field(group_of(row), key);
        return is_other(group_of(row)) || (field != nullptr && seen.emplace(group_text(*field), row.name).second);
    });
}

/// Whether shares say something: not where each group, or the whole, has one stage, as functions in a trace of calls.
bool have_shares(const All& rows) {
    return std::ranges::any_of(
        rows, [](const MeasureRow& row) { return !is_rest(row.group) && row.share && *row.share < 1; });
}

std::vector<Column> measure_columns(const All& rows, const std::vector<std::string>& keys,
                                    std::span<const table::Percentile> percentiles, bool is_time,
                                    bool share_is_of_direction) {
    const bool has_shares = have_shares(rows);
    std::vector<Column> columns;
    const bool by_container = are_distinct(rows, "container");
    for (const auto& key : keys) {
        // A container is a cgroup, whose path is longer than a line, and a namespace.
        const bool is_part = by_container && (key == "cgroup" || key == "netns");
        columns.push_back(
            {key_name(key), is_number(rows, key) ? Kind::number : Kind::text, is_part ? In::page : In::all});
    }
    columns.push_back({.name = is_time ? "STAGE" : "VALUE", .kind = Kind::head, .unit = is_time ? "us" : ""});
    if (has_shares)
        columns.push_back({share_is_of_direction ? "SHARE OF DIRECTION" : "SHARE OF TIME", Kind::text, In::page});
    columns.insert(columns.end(), {{"N"},
                                   {.name = "MEAN", .leaves = 1},
                                   {"SD", Kind::number, In::text, Extra::stddev},
                                   {"MIN", Kind::number, In::text, Extra::min}});
    for (const auto& percentile : percentiles) {
        columns.push_back({"P" + percentile.text});
        columns.push_back({"[95 %]", Kind::number, In::text, Extra::intervals});
    }
    columns.push_back({.name = "MAX", .leaves = 2});
    if (has_shares) columns.push_back({.name = "SHARE", .in = In::text, .leaves = 3});
    columns.push_back({"SUM", Kind::number, In::text, Extra::sum, is_time ? "ms" : ""});
    return columns;
}

void add_stats(std::vector<Cell>& row, const table::Histogram& stats, const Style& style,
               std::span<const table::Percentile> percentiles) {
    const auto stddev = style.cell(stats.stddev()), min = style.cell(stats.min());
    const auto sum = style.is_time ? fmt::format("{:.3f}", stats.sum() / 1e6) : fmt::format("{:.0f}", stats.sum());
    row.push_back({fmt::format("{}", stats.n())});
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

}  // namespace

std::vector<MeasureRow> measured(const table::Table& rows) {
    std::vector<MeasureRow> all;
    for (const auto& row : rows.rows) {
        all.push_back({*table::held<std::string>(row.front()), *table::held<table::Group>(rows.at(row, "group")),
                       *table::held<table::Histogram>(rows.at(row, "distribution")),
                       table::known<double>(rows.at(row, "share"))});
    }
    return all;
}

table::Table whole_rows(const table::Results& results, std::string_view name) {
    auto table = results.at(name);
    std::erase_if(table.rows,
                  [&](const table::Row& row) { return !table::held<table::Group>(table.at(row, "group"))->empty(); });
    const auto is_empty = [&](const table::Row& row) {
        return table::held<table::Histogram>(table.at(row, "distribution"))->n() == 0;
    };
    if (!std::ranges::all_of(table.rows, is_empty)) std::erase_if(table.rows, is_empty);
    return table;
}

table::Table undivided_stages(const table::Results& results) {
    auto stages = whole_rows(results, "stages");
    std::erase_if(stages.rows,
                  [&](const table::Row& row) { return table::held<std::string>(stages.at(row, "part_of")); });
    return stages;
}

table::Table group_rows(const table::Results& results, std::string_view name, std::size_t most) {
    if (results.at(name).rows.empty()) return results.at(name);
    auto groups = table::largest_groups(results.at(name), most, "rest");
    if (groups.find("share")) table::put_shares(groups, results.at("ways.stages"));
    return groups;
}

bool is_rest(const table::Group& group) {
    return is_other(group) && group.front().key == "rest";
}

std::size_t groups_in_rest(const table::Results& results, std::string_view name, std::size_t most) {
    std::set<table::Group> groups;
    for (const auto& measure : measured(results.at(name))) {
        if (!measure.group.empty()) groups.insert(measure.group);
    }
    return groups.size() - std::min(groups.size(), most);
}

Style style_of(const table::Table& rows) {
    std::int64_t largest = 0;
    for (const auto& row : measured(rows))
        largest = std::max(largest, row.stats.max().value_or(0));
    return {is_time(rows), largest < 100'000'000 ? 3 : 2};
}

std::string too_few_text(std::span<const table::Table> tables, std::span<const table::Percentile> percentiles) {
    std::string needs;
    for (const auto& [text, percent] : percentiles) {
        const auto lacks = [&, p = percent](const table::Table& table) {
            return std::ranges::any_of(measured(table),
                                       [p](const MeasureRow& row) { return !row.stats.percentile(p); });
        };
        if (!std::ranges::any_of(tables, lacks)) continue;
        needs += fmt::format("{} P{} needs {}", needs.empty() ? "" : ",", text, table::values_needed(percent));
    }
    return needs.empty() ? needs : "-: not enough samples;" + needs;
}

std::optional<std::size_t> colour_of_stage(const table::Results& results, std::string_view stage) {
    const auto& stages = results.at("ways.stages");
    const auto whole = schema::divided_stage(stage);
    const auto is_it = [&](const table::Row& row) {
        return table::text_of(stages.at(row, "stage")) == (whole.empty() ? stage : whole);
    };
    const auto found = std::ranges::find_if(stages.rows, is_it);
    if (found == stages.rows.end()) return std::nullopt;
    return static_cast<std::size_t>(found - stages.rows.begin());
}

std::string interval_text(const std::optional<table::Histogram::Interval>& interval, const Style& style) {
    return interval ? fmt::format("[{}, {}]", style.cell(interval->low), style.cell(interval->high)) : "-";
}

Cell stage_cell(const std::string& stage, std::optional<std::size_t> colour) {
    if (!schema::is_part(stage)) return {.text = stage, .colour = colour};
    return {.text = "  " + std::string(schema::cause_of(stage)), .title = stage, .mark = "part"};
}

Table measures_table(const table::Results& results, const table::Table& rows, const Style& style,
                     std::span<const table::Percentile> percentiles, const std::optional<Trend>& trend) {
    const auto all = measured(rows);
    const bool has_shares = have_shares(all);
    // Groups of several recordings may have different keys.
    const auto keys = keys_of(all, group_of);
    Table table{fmt::format("{}{}{}", style.is_time ? "Stages" : "Values", keys.empty() ? "" : " by group",
                            style.is_time ? ", in microseconds" : ""),
                measure_columns(all, keys, percentiles, style.is_time, are_several_directions(results))};
    if (trend) table.columns.push_back({"TREND", Kind::text, In::text, Extra::trend});
    const table::Group* last = nullptr;
    for (const auto& [name, group, stats, share] : all) {
        const auto colour = colour_of_stage(results, name);
        const bool repeated = last != nullptr && *last == group;
        last = &group;
        auto& row = table.rows.emplace_back();
        for (const auto& key : keys) {
            const auto text = key_cell(group, key, key == keys.front());
            row.push_back({.text = text,
                           .mark = repeated ? "repeated" : "",
                           .is_absent = text.empty() && find_field(group, key) == nullptr});
        }
        const bool is_slow = keys.empty() && is_time_of_tail(results, name);
        row.push_back(stage_cell(name, keys.empty() ? colour : std::nullopt));
        if (is_slow) row.back().ink = base::Ink::strong;
        if (has_shares) row.push_back(share ? bar_cell(*share, colour) : Cell());
        add_stats(row, stats, style, percentiles);
        const auto share_text = share ? fmt::format("{:.1f}%", *share * 100) : "-";
        if (has_shares) row.insert(row.end() - 1, {share_text});
        if (trend) row.push_back({trend->text(results, name)});
    }
    table.below = too_few_text({&rows, 1}, percentiles);
    return table;
}

std::vector<std::string> footnotes(const table::Results& results, const Options& options) {
    std::vector<std::string> notes;
    std::vector<table::Table> tables;
    std::size_t in_rest = 0;
    for (const auto* name : {"stages", "values"}) {
        tables.push_back(whole_rows(results, name));
        if (options.top == 0) continue;
        tables.push_back(group_rows(results, name, options.top));
        in_rest = std::max(in_rest, groups_in_rest(results, name, options.top));
    }
    if (in_rest > 0)
        notes.push_back(fmt::format("rest: {} smaller group{}", in_rest, in_rest == 1 ? "" : "s together"));
    if (auto text = too_few_text(tables, options.percentiles); !text.empty()) notes.push_back(std::move(text));
    if (results.at("stages").rows.empty()) return notes;
    if (auto text = results.sentence("reads"); !text.empty()) notes.push_back(std::move(text));
    if (are_several_directions(results) &&
        std::ranges::any_of(tables, [](const auto& table) { return have_shares(measured(table)); }))
        notes.emplace_back("SHARE: of the time of all stages of the same direction");
    if (const auto ns = table::count_of(results.fact("precision", "resolution_ns")); ns > 1)
        notes.push_back(fmt::format("times are multiples of {}", duration_text(ns)));
    return notes;
}

}  // namespace stapgen::show
