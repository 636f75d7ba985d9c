// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "schema/schema.h"
#include "show/model/table.h"
#include "table/merge.h"

namespace stapgen::show {

namespace {

using All = std::vector<MeasureRow>;

const table::Group& group_of(const MeasureRow& row) {
    return row.group;
}

bool are_several_directions(const rows::Results& results) {
    return std::ranges::count_if(results.of<rows::Way>(), [](const rows::Way& way) { return way.n > 0; }) > 1;
}

/// Whether most of the extra time of the slowest records is in it.
bool is_time_of_tail(const rows::Results& results, const std::string& stage) {
    return std::ranges::any_of(results.of<rows::Way>(), [&](const rows::Way& way) { return way.tail_stage == stage; });
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

namespace {

Measures measures_of(const std::vector<rows::Stage>& rows) {
    Measures measures{.are_times = true};
    for (const auto& row : rows)
        measures.rows.push_back({row.stage, row.group, row.distribution, row.share, row.part_of.has_value()});
    return measures;
}

Measures measures_of(const std::vector<rows::Value>& rows) {
    Measures measures{.are_times = false};
    for (const auto& row : rows)
        measures.rows.push_back({row.value, row.group, row.distribution});
    return measures;
}

}  // namespace

Measures measures_of(const rows::Results& results, bool are_times) {
    return are_times ? measures_of(results.of<rows::Stage>()) : measures_of(results.of<rows::Value>());
}

Measures whole_rows(const rows::Results& results, bool are_times) {
    auto measures = measures_of(results, are_times);
    auto& rows = measures.rows;
    std::erase_if(rows, [](const MeasureRow& row) { return !row.group.empty(); });
    const auto is_empty = [](const MeasureRow& row) { return row.stats->n() == 0; };
    if (!std::ranges::all_of(rows, is_empty)) std::erase_if(rows, is_empty);
    return measures;
}

Measures undivided_stages(const rows::Results& results) {
    auto stages = whole_rows(results, true);
    std::erase_if(stages.rows, &MeasureRow::is_part);
    return stages;
}

Measures group_rows(const rows::Results& results, bool are_times, std::size_t most) {
    if (!are_times) return measures_of(table::largest_groups(results.of<rows::Value>(), most, "rest"));
    auto groups = table::largest_groups(results.of<rows::Stage>(), most, "rest");
    rows::put_shares(groups, results.of<rows::Way>());
    return measures_of(groups);
}

bool is_rest(const table::Group& group) {
    return is_other(group) && group.front().key == "rest";
}

std::size_t groups_in_rest(const rows::Results& results, bool are_times, std::size_t most) {
    std::set<table::Group> groups;
    const auto all = measures_of(results, are_times);
    for (const auto& measure : all.rows)
        if (!measure.group.empty()) groups.insert(measure.group);
    return groups.size() - std::min(groups.size(), most);
}

Style style_of(const Measures& measures) {
    std::int64_t largest = 0;
    for (const auto& row : measures.rows)
        largest = std::max(largest, row.stats->max().value_or(0));
    return {measures.are_times, largest < 100'000'000 ? 3 : 2};
}

std::string too_few_text(std::span<const Measures> all, std::span<const table::Percentile> percentiles) {
    std::string needs;
    for (const auto& [text, percent] : percentiles) {
        const auto lacks = [p = percent](const Measures& measures) {
            return std::ranges::any_of(measures.rows, [p](const MeasureRow& row) { return !row.stats->percentile(p); });
        };
        if (!std::ranges::any_of(all, lacks)) continue;
        needs += fmt::format("{} P{} needs {}", needs.empty() ? "" : ",", text, table::values_needed(percent));
    }
    return needs.empty() ? needs : "-: not enough samples;" + needs;
}

table::Texts coloured_stages(const rows::Results& results) {
    table::Texts stages;
    const auto add = [&](const std::string& stage) {
        if (std::ranges::find(stages, stage) == stages.end()) stages.push_back(stage);
    };
    table::Texts divided;
    for (const auto& way : results.of<rows::Way>()) {
        for (const auto& [stage, sum_ns] : way.stages) {
            if (sum_ns <= 0) continue;
            const auto before = stages.size();
            for (const auto& row : results.of<rows::Stage>())
                if (row.part_of == stage && row.group.empty() && row.distribution->sum() > 0) add(row.stage);
            if (stages.size() > before) {
                divided.push_back(stage);
            } else {
                add(stage);
            }
        }
    }
    for (const auto& stage : divided)
        add(stage);
    return stages;
}

std::optional<std::size_t> colour_of_stage(const table::Texts& coloured, std::string_view stage) {
    const auto found = std::ranges::find(coloured, stage);
    return found == coloured.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - coloured.begin()));
}

std::string interval_text(const std::optional<table::Histogram::Interval>& interval, const Style& style) {
    return interval ? fmt::format("[{}, {}]", style.cell(interval->low), style.cell(interval->high)) : "-";
}

Cell stage_cell(const std::string& stage, std::optional<std::size_t> colour) {
    if (!schema::is_part(stage)) return {.text = stage, .colour = colour};
    return {.text = "  " + std::string(schema::cause_of(stage)), .title = stage, .colour = colour, .mark = "part"};
}

Table measures_table(const rows::Results& results, const Measures& measures, const Style& style,
                     std::span<const table::Percentile> percentiles, const std::optional<Trend>& trend) {
    const auto& all = measures.rows;
    const bool has_shares = have_shares(all);
    const auto coloured = coloured_stages(results);
    // Groups of several recordings may have different keys.
    const auto keys = keys_of(all, group_of);
    Table table{fmt::format("{}{}{}", style.is_time ? "Stages" : "Values", keys.empty() ? "" : " by group",
                            style.is_time ? ", in microseconds" : ""),
                measure_columns(all, keys, percentiles, style.is_time, are_several_directions(results))};
    if (trend) table.columns.push_back({"TREND", Kind::text, In::text, Extra::trend});
    const table::Group* last = nullptr;
    for (const auto& [name, group, stats, share, is_part] : all) {
        const auto colour = colour_of_stage(coloured, name);
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
        add_stats(row, *stats, style, percentiles);
        const auto share_text = share ? fmt::format("{:.1f}%", *share * 100) : "-";
        if (has_shares) row.insert(row.end() - 1, {share_text});
        if (trend) row.push_back({trend->text(results, name)});
    }
    table.below = too_few_text({&measures, 1}, percentiles);
    return table;
}

std::vector<std::string> footnotes(const rows::Results& results, const Options& options) {
    std::vector<std::string> notes;
    const std::array tables{whole_rows(results, true), whole_rows(results, false)};
    if (auto text = too_few_text(tables, options.percentiles); !text.empty()) notes.push_back(std::move(text));
    if (results.of<rows::Stage>().empty()) return notes;
    if (!results.sentences.reads.empty()) notes.push_back(results.sentences.reads);
    if (are_several_directions(results) && have_shares(tables.front().rows))
        notes.emplace_back("SHARE: of the time of all stages of the same direction");
    if (const auto ns = results.one<rows::Precision>().resolution_ns; ns > 1)
        notes.push_back(fmt::format("times are multiples of {}", duration_text(ns)));
    return notes;
}

std::vector<std::string> group_footnotes(const rows::Results& results, const Options& options) {
    std::vector<std::string> notes;
    const auto in_rest =
        std::max(groups_in_rest(results, true, options.top), groups_in_rest(results, false, options.top));
    if (in_rest > 0)
        notes.push_back(fmt::format("rest: {} smaller group{}", in_rest, in_rest == 1 ? "" : "s together"));
    const std::array tables{group_rows(results, true, options.top), group_rows(results, false, options.top)};
    if (auto text = too_few_text(tables, options.percentiles); !text.empty()) notes.push_back(std::move(text));
    return notes;
}

}  // namespace stapgen::show
