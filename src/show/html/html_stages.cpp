// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "show/html/html_scale.h"
#include "show/html/html_sections.h"
#include "show/model/slow_records.h"

namespace stapgen::show::html {

namespace {

using Records = std::vector<SlowRecord>;

/// " of rx"; nothing where there is one direction only.
std::string of_direction(const std::string& way) {
    return way.empty() ? "" : " of " + way;
}

Table groups_table(const rows::Results& results, bool are_times, const Options& options) {
    auto groups = group_rows(results, are_times, options.top);
    std::erase_if(groups.rows, [](const MeasureRow& row) { return is_rest(row.group); });
    if (groups.rows.empty()) return {};
    auto table = measures_table(results, groups, style_of(groups), options.percentiles);
    if (const auto in_rest = groups_in_rest(results, are_times, options.top); in_rest > 0)
        table.below = fmt::format("and {} smaller groups{}{}", in_rest, table.below.empty() ? "" : "; ", table.below);
    return table;
}

/// Of one direction, whose threshold is known.
Table tail_table(const rows::Results& results, const rows::Tail& tail) {
    const Style style;
    Table table{fmt::format("{}{} above P{:g} ({}) against {} others, means in microseconds", *tail.n_slow,
                            of_direction(tail.way), tail.percent, duration_text(*tail.threshold_ns), *tail.n_rest),
                {{"STAGE", Kind::head},
                 {"MEAN, OTHERS"},
                 {"MEAN, SLOW"},
                 {"SHARE, OTHERS", Kind::text},
                 {"SHARE, SLOW", Kind::text},
                 {"SHARE OF EXTRA TIME", Kind::text}}};
    for (const auto& row : tail.stages) {
        if (row.slow_mean_ns == 0 && row.rest_mean_ns == 0) continue;
        const auto colour = colour_of_stage(results, row.stage);
        table.rows.push_back({stage_cell(row.stage, colour),
                              {style.cell(row.rest_mean_ns)},
                              {style.cell(row.slow_mean_ns)},
                              bar_cell(row.rest_share, colour),
                              bar_cell(row.slow_share, colour),
                              bar_cell(row.excess_share, colour)});
    }
    table.rows.push_back({{"all"}, {style.cell(tail.rest_mean_ns)}, {style.cell(tail.slow_mean_ns)}, {}, {}, {}});
    return table;
}

/// All time of its stages.
double sum_of(const rows::Way& way) {
    double sum = 0;
    for (const auto& stage : way.stages)
        sum += stage.sum_ns;
    return sum;
}

double mean_of(const rows::Way& way) {
    return way.n > 0 ? sum_of(way) / static_cast<double>(way.n) : 0;
}

/// The time of day it ended; without an epoch, times are those of the series: since its first block.
std::string ended(const rows::Results& results, const SlowRecord& record) {
    return record.time_ns && has_epoch(results) ? local_time_of_day(*record.time_ns) : "-";
}

Timelines timelines_of(const rows::Results& results, const std::string& way, const Records& records) {
    const auto longest = std::ranges::max(records, {}, &SlowRecord::length_ns).length_ns;
    Timelines timelines{{}, linear_ticks(longest, true)};
    for (const auto& record : records) {
        auto& row = timelines.rows.emplace_back();
        row.label = fmt::format("#{} {}", timelines.rows.size(), duration_text(record.total_ns));
        const auto name = record_name(way, record.of);
        row.text = fmt::format("{}{}{}", ended(results, record), name.empty() ? "" : ", ", name);
        for (const auto& [stage, begin_ns, ns, parts] : record.steps) {
            auto text = fmt::format("{} {}, from {} on", stage, duration_text(ns), duration_text(begin_ns));
            for (const auto& [cause, part_ns] : parts)
                text += fmt::format("; {} {}", cause, duration_text(part_ns));
            row.segments.push_back({std::move(text), static_cast<double>(ns) / static_cast<double>(longest),
                                    colour_of_stage(results, stage).value_or(0)});
        }
    }
    return timelines;
}

/// A column for each stage that one of the records has.
Table slowest_table(const rows::Results& results, const rows::Tail& tail, const Records& records) {
    Table table{fmt::format("The slowest {}{}, in microseconds", records.size(), of_direction(tail.way)),
                {{"#"}, {"ENDED", Kind::text}, {"TOTAL"}}};
    const auto step_of = [](const SlowRecord& record, const std::string& stage) {
        const auto step = std::ranges::find(record.steps, stage, &SlowRecord::Step::stage);
        return step == record.steps.end() ? std::nullopt : std::optional(step->ns);
    };
    std::vector<std::string> stages;
    const auto way = std::ranges::find(results.of<rows::Way>(), tail.number, &rows::Way::number);
    for (const auto& of_way : way->stages) {
        const auto& stage = of_way.stage;
        const auto has_it = [&](const SlowRecord& record) { return step_of(record, stage).has_value(); };
        if (std::ranges::none_of(records, has_it)) continue;
        stages.push_back(stage);
        table.columns.push_back({stage});
    }
    table.columns.push_back({"OF", Kind::text});
    const Style style;
    for (const auto& record : records) {
        auto& row = table.rows.emplace_back();
        row.push_back({fmt::format("{}", table.rows.size())});
        row.push_back({ended(results, record)});
        row.push_back({style.cell(record.total_ns)});
        for (const auto& stage : stages)
            row.push_back({style.cell(step_of(record, stage))});
        row.push_back({group_text(record.of)});
    }
    return table;
}

}  // namespace

const table::Histogram* stage_of(const rows::Results& results, std::string_view name) {
    for (const auto& stage : results.of<rows::Stage>()) {
        if (stage.group.empty() && stage.stage == name) return &*stage.distribution;
    }
    return nullptr;
}

std::string first_stage_of(const rows::Results& results) {
    std::string first;
    double most = -1;
    const auto whole = undivided_stages(results);
    for (const auto& stage : whole.rows) {
        if (stage.name == "total" && stage.stats->n() > 0) return stage.name;
        if (stage.stats->sum() <= most) continue;
        most = stage.stats->sum();
        first = stage.name;
    }
    return first;
}

std::vector<Segment> both_legend() {
    return {{"before", 0, 0}, {"after", 0, 4}};
}

void show_first(std::vector<Plot>& plots, const std::string& name) {
    std::ranges::stable_partition(plots, [&](const Plot& plot) { return plot.name == name; });
    for (std::size_t i = 1; i < plots.size(); ++i)
        plots[i].folded = true;
}

double max_mean_of(const rows::Results& results) {
    double longest = 0;
    for (const auto& way : results.of<rows::Way>())
        longest = std::max(longest, mean_of(way));
    return longest;
}

std::vector<Stack> stacks_of(const rows::Results& results, double max_ns) {
    if (max_ns <= 0) max_ns = max_mean_of(results);
    std::vector<Stack> stacks;
    for (const auto& way : results.of<rows::Way>()) {
        const auto mean = mean_of(way);
        if (mean <= 0) continue;
        Stack stack{way.way, fmt::format("{} on average", duration_text(mean)), {}};
        for (const auto& [stage, sum_ns] : way.stages) {
            const auto part = sum_ns / static_cast<double>(way.n);
            if (part <= 0) continue;
            stack.segments.push_back({fmt::format("{} {}, {}", stage, duration_text(part), percent(part / mean)),
                                      part / max_ns, colour_of_stage(results, stage).value_or(0)});
        }
        stacks.push_back(std::move(stack));
    }
    return stacks;
}

std::vector<Segment> legend_of(const rows::Results& results) {
    std::vector<Segment> legend;
    for (const auto& way : results.of<rows::Way>()) {
        for (const auto& [stage, sum_ns] : way.stages) {
            // Directions may have the same stages.
            if (sum_ns > 0 && std::ranges::find(legend, stage, &Segment::name) == legend.end())
                legend.push_back({stage, 0, colour_of_stage(results, stage).value_or(0)});
        }
    }
    return legend;
}

void draw(Section& to, section::Stages /*section*/, const Report& of) {
    const auto& results = of.results;
    if (!results.of<rows::Stage>().empty()) {
        to.stacks = stacks_of(results);
        to.legend = legend_of(results);
    }
    if (!results.sentences.reads.empty()) to.paragraphs = {results.sentences.reads};
    for (const bool are_times : {true, false}) {
        if (const auto rows = whole_rows(results, are_times); !rows.rows.empty())
            to.tables.push_back(measures_table(results, rows, style_of(rows), of.options.percentiles));
    }
}

void draw(Section& to, section::Tail /*section*/, const Report& of) {
    for (const auto& tail : of.results.of<rows::Tail>())
        if (tail.threshold_ns) to.tables.push_back(tail_table(of.results, tail));
}

void draw(Section& to, section::Slowest /*section*/, const Report& of) {
    for (const auto& tail : of.results.of<rows::Tail>()) {
        const auto records = slowest_of(of.results, tail.number);
        if (records.empty()) continue;
        to.timelines.push_back(timelines_of(of.results, tail.way, records));
        to.tables.push_back(slowest_table(of.results, tail, records));
    }
    if (!to.tables.empty()) to.legend = legend_of(of.results);
}

void draw(Section& to, section::Groups /*section*/, const Report& of) {
    for (const bool are_times : {true, false}) {
        if (auto table = groups_table(of.results, are_times, of.options); !table.rows.empty())
            to.tables.push_back(std::move(table));
    }
}

}  // namespace stapgen::show::html
