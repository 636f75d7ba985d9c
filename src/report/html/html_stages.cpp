// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/html/html_scale.h"
#include "report/html/html_sections.h"
#include "report/model/slow_records.h"

namespace stapgen::report::html {

namespace {

using analyze::Breakdown;
using Records = std::vector<analyze::SlowRecord>;

/// " of rx"; nothing where there is one direction only.
std::string of_direction(const Breakdown& breakdown) {
    return breakdown.direction().empty() ? "" : " of " + breakdown.direction();
}

Table groups_table(const Report& report, bool is_time) {
    const auto& [all, whole, groups, rest, in_rest] = is_time ? report.stages : report.values;
    Rows shown = groups;
    std::erase_if(shown, [](const Row& row) { return row.is_rest; });
    if (shown.empty()) return {};
    auto table = measures_table(report, shown, style_of(shown, is_time));
    if (in_rest > 0) {
        table.below = fmt::format("and {} smaller groups{}{}", in_rest, table.below.empty() ? "" : "; ", table.below);
    }
    return table;
}

Table tail_table(const analyze::Summary& summary, const Breakdown& breakdown, const Breakdown::Tail& tail) {
    const Style style;
    Table table{fmt::format("{}{} above P{:g} ({}) against {} others, means in microseconds", tail.n_slow,
                            of_direction(breakdown), tail.percent,
                            duration_text(static_cast<double>(tail.threshold_ns)), tail.n_rest),
                {{"STAGE", Kind::head},
                 {"MEAN, OTHERS"},
                 {"MEAN, SLOW"},
                 {"SHARE, OTHERS", Kind::text},
                 {"SHARE, SLOW", Kind::text},
                 {"SHARE OF EXTRA TIME", Kind::text}}};
    for (const auto& share : tail.shares) {
        if (share.slow_mean_ns == 0 && share.rest_mean_ns == 0) continue;  // none of these records has that stage
        const auto colour = colour_of_stage(summary, share.stage);
        table.rows.push_back({{.text = share.stage, .colour = colour},
                              {style.cell(share.rest_mean_ns)},
                              {style.cell(share.slow_mean_ns)},
                              bar_cell(share.rest, colour),
                              bar_cell(share.slow, colour),
                              bar_cell(share.of_excess, colour)});
    }
    table.rows.push_back({{"all"}, {style.cell(tail.rest_mean_ns)}, {style.cell(tail.slow_mean_ns)}, {}, {}, {}});
    return table;
}

double mean_total(const Breakdown& breakdown) {
    double sum = 0;
    for (std::size_t i = 0; i < breakdown.stages().size(); ++i)
        sum += breakdown.sum_ns(i);
    return breakdown.total().n() == 0 ? 0 : sum / static_cast<double>(breakdown.total().n());
}

/// The time of day it ended; without an epoch, times are those of the series: since its first block.
std::string ended(const analyze::Summary& summary, const analyze::SlowRecord& record) {
    return record.time_ns && summary.start_epoch_ns ? local_time_of_day(*record.time_ns) : "-";
}

Timelines timelines_of(const analyze::Summary& summary, const Breakdown& breakdown, const Records& records) {
    std::int64_t longest = 1;
    for (const auto& record : records)
        longest = std::max(longest, timeline_of(record).length_ns);
    Timelines timelines{{}, linear_ticks(longest, true)};
    for (const auto& record : records) {
        auto& row = timelines.rows.emplace_back();
        row.label = fmt::format("#{} {}", timelines.rows.size(), duration_text(record.total_ns));
        const auto name = record_name(breakdown.direction(), record.of);
        row.text = fmt::format("{}{}{}", ended(summary, record), name.empty() ? "" : ", ", name);
        for (const auto& [stage, begin_ns, ns] : timeline_of(record).steps) {
            if (stage >= breakdown.stages().size()) break;
            const auto& stage_name = breakdown.stages()[stage];
            row.segments.push_back(
                {fmt::format("{} {}, from {} on", stage_name, duration_text(ns), duration_text(begin_ns)),
                 static_cast<double>(ns) / static_cast<double>(longest), colour_of_stage(summary, stage_name)});
        }
    }
    return timelines;
}

/// Stages that one of the records has.
std::set<std::size_t> stages_in(const Breakdown& breakdown, const Records& records) {
    std::set<std::size_t> stages;
    for (const auto& record : records) {
        for (const auto& step : timeline_of(record).steps) {
            if (step.stage < breakdown.stages().size()) stages.insert(step.stage);
        }
    }
    return stages;
}

Table slowest_table(const analyze::Summary& summary, const Breakdown& breakdown, const Records& records) {
    Table table{fmt::format("The slowest {}{}, in microseconds", records.size(), of_direction(breakdown)),
                {{"#"}, {"ENDED", Kind::text}, {"TOTAL"}}};
    const auto stages = stages_in(breakdown, records);
    for (const auto stage : stages)
        table.columns.push_back({breakdown.stages()[stage]});
    table.columns.push_back({"OF", Kind::text});
    const Style style;
    for (const auto& record : records) {
        auto& row = table.rows.emplace_back();
        row.push_back({fmt::format("{}", table.rows.size())});
        row.push_back({ended(summary, record)});
        row.push_back({style.cell(record.total_ns)});
        for (const auto stage : stages)
            row.push_back({style.cell(stage < record.stages.size() ? record.stages[stage] : std::nullopt)});
        row.push_back({group_text(record.of)});
    }
    return table;
}

}  // namespace

std::string first_stage_of(const analyze::Summary& summary) {
    std::string first;
    double most = -1;
    for (const auto& measure : summary.stages) {
        if (!measure.group.empty()) continue;
        if (measure.name == "total" && measure.stats.n() > 0) return measure.name;
        if (measure.stats.sum() <= most) continue;
        most = measure.stats.sum();
        first = measure.name;
    }
    return first;
}

double max_mean_of(const analyze::Summary& summary) {
    double longest = 0;
    for (const auto& breakdown : summary.breakdowns)
        longest = std::max(longest, mean_total(breakdown));
    return longest;
}

std::vector<Stack> stacks_of(const analyze::Summary& summary, double max_ns) {
    if (max_ns <= 0) max_ns = max_mean_of(summary);
    std::vector<Stack> stacks;
    for (const auto& breakdown : summary.breakdowns) {
        const auto mean = mean_total(breakdown);
        if (mean <= 0) continue;
        Stack stack{breakdown.direction(), fmt::format("{} on average", duration_text(mean)), {}};
        for (std::size_t i = 0; i < breakdown.stages().size(); ++i) {
            const auto& stage = breakdown.stages()[i];
            const auto part = breakdown.sum_ns(i) / static_cast<double>(breakdown.total().n());
            if (part <= 0) continue;
            stack.segments.push_back({fmt::format("{} {}, {}", stage, duration_text(part), percent(part / mean)),
                                      part / max_ns, colour_of_stage(summary, stage)});
        }
        stacks.push_back(std::move(stack));
    }
    return stacks;
}

std::vector<Segment> legend_of(const analyze::Summary& summary) {
    std::vector<Segment> legend;
    for (const auto& breakdown : summary.breakdowns) {
        for (std::size_t i = 0; i < breakdown.stages().size(); ++i) {
            const auto& stage = breakdown.stages()[i];
            // Directions may have the same stages.
            if (breakdown.sum_ns(i) > 0 && std::ranges::find(legend, stage, &Segment::name) == legend.end())
                legend.push_back({stage, 0, colour_of_stage(summary, stage)});
        }
    }
    return legend;
}

Section stages_section(const Report& report) {
    Section section{"stages", "Where the time goes"};
    const auto& stages = report.stages.whole;
    const auto& values = report.values.whole;
    if (!stages.empty()) {
        section.stacks = stacks_of(report.summary);
        section.legend = legend_of(report.summary);
        section.tables.push_back(measures_table(report, stages, style_of(stages, true)));
    }
    if (!values.empty()) section.tables.push_back(measures_table(report, values, style_of(values, false)));
    return section;
}

Section tail_section(const Report& report) {
    Section section{"tail", "Where the tail comes from"};
    for (const auto& direction : report.directions) {
        if (direction.tail) section.tables.push_back(tail_table(report.summary, direction.breakdown, *direction.tail));
    }
    return section;
}

Section slowest_section(const Report& report) {
    Section section{"slowest", "The slowest"};
    for (const auto& [breakdown, sentence, tail, slowest] : report.directions) {
        if (slowest.empty()) continue;
        section.timelines.push_back(timelines_of(report.summary, breakdown, slowest));
        section.tables.push_back(slowest_table(report.summary, breakdown, slowest));
    }
    if (!section.tables.empty()) section.legend = legend_of(report.summary);
    return section;
}

Section groups_section(const Report& report) {
    Section section{"groups", "Groups"};
    for (const bool is_time : {true, false}) {
        if (auto table = groups_table(report, is_time); !table.rows.empty()) section.tables.push_back(std::move(table));
    }
    return section;
}

}  // namespace stapgen::report::html
