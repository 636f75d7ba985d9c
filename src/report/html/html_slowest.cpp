#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "report/html/html_sections.h"
#include "report/model/measures.h"
#include "report/model/slow_record.h"
#include "report/model/wall_time.h"

namespace stapgen::report::html {

namespace {

using analyze::Breakdown;
using Records = std::vector<analyze::SlowRecord>;

/// Marks of a scale are this far from its end at least: their text is behind them.
constexpr double last_tick = 0.9;

/// "0.5 ms", "20 us", of 1, 2 or 5 times a power of ten.
std::string round_duration(std::int64_t ns) {
    if (ns >= 1'000'000'000) return fmt::format("{:g} s", static_cast<double>(ns) / 1e9);
    if (ns >= 1'000'000) return fmt::format("{:g} ms", static_cast<double>(ns) / 1e6);
    return fmt::format("{:g} us", static_cast<double>(ns) / 1e3);
}

/// Three to five marks, at multiples of the step from 0 on.
std::vector<Tick> scale_ticks(std::int64_t max_ns) {
    std::int64_t step = 1;
    for (std::size_t i = 0; step < max_ns / 5; ++i)
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    std::vector<Tick> ticks;
    for (std::int64_t i = 0;; ++i) {
        const auto at = static_cast<double>(i) * static_cast<double>(step) / static_cast<double>(max_ns);
        if (at > last_tick) return ticks;
        ticks.push_back({i == 0 ? "0" : round_duration(i * step), at});
    }
}

/// The time of day it ended; without an epoch, times are those of the series: since its first block.
std::string ended(const analyze::Summary& summary, const analyze::SlowRecord& record) {
    return record.time_ns && summary.start_epoch_ns ? local_time_of_day(*record.time_ns) : "-";
}

Timelines timelines_of(const analyze::Summary& summary, const Breakdown& breakdown, const Records& records) {
    std::int64_t longest = 1;
    for (const auto& record : records)
        longest = std::max(longest, timeline_of(record).length_ns);
    Timelines timelines{{}, scale_ticks(longest)};
    for (const auto& record : records) {
        auto& row = timelines.rows.emplace_back();
        row.label = fmt::format("#{} {}", timelines.rows.size(),
                                base::format_duration(std::chrono::nanoseconds(record.total_ns)));
        const auto name = record_name(breakdown.direction(), record.of);
        row.text = fmt::format("{}{}{}", ended(summary, record), name.empty() ? "" : ", ", name);
        for (const auto& [stage, begin_ns, ns] : timeline_of(record).steps) {
            if (stage >= breakdown.stages().size()) break;
            const auto& stage_name = breakdown.stages()[stage];
            row.segments.push_back(
                {fmt::format("{} {}, from {} on", stage_name, base::format_duration(std::chrono::nanoseconds(ns)),
                             base::format_duration(std::chrono::nanoseconds(begin_ns))),
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
    const auto direction = breakdown.direction().empty() ? "" : " of " + breakdown.direction();
    Table table{fmt::format("The slowest {}{}, in microseconds", records.size(), direction),
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
        std::string whose;
        for (const auto& field : record.of)
            whose += fmt::format("{}{} {}", whose.empty() ? "" : ", ", field.key, group_text(field));
        row.push_back({whose});
    }
    return table;
}

}  // namespace

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

}  // namespace stapgen::report::html
