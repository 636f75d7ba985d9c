// SPDX-License-Identifier: GPL-2.0-or-later
// What was measured, with the rows of its tables as structs: tests write and read these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/analyzer.h"
#include "analyze/merge.h"
#include "analyze/names.h"
#include "analyze/results.h"
#include "kinds/calls/calls.h"
#include "kinds/counts/counts.h"
#include "kinds/drops/drops.h"
#include "kinds/latency/averages.h"
#include "kinds/latency/latency.h"

namespace stapgen::summaries {

using analyze::Analyzer;
using kinds::Measured, kinds::Note, kinds::NoteKind, kinds::Cause, kinds::Accounting, kinds::Cost, kinds::Sample,
    kinds::Origin, kinds::Counter, kinds::Transport, kinds::Averages, kinds::sum_of, kinds::IntervalLog,
    kinds::Settings;
using table::Block, table::Breakdown, table::Series, table::SlowRecord, table::Group, table::GroupField;

struct Measure {
    std::string name;
    Group group;
    table::Histogram stats;
};

namespace rows = stapgen::rows;
using Drop = rows::OfInterval<rows::Drop>;
using Stack = rows::OfInterval<rows::Stack>;
using Tally = rows::OfInterval<rows::Count>;
using rows::Call, rows::Interval;

struct Average : table::Average {
    Average() = default;
    Average(std::string of, bool time, std::int64_t count, double of_all, double off)
        : table::Average{.is_time = time, .n = count, .mean = of_all, .error = off}, name(std::move(of)) {}
    std::string name;
};

struct AverageInterval {
    std::int64_t line = 0, n = 0;
    std::vector<Average> averages;
};

struct Summary : kinds::Run {
    std::vector<Measure> stages, values;
    std::vector<Breakdown> breakdowns;
    Series series;
    std::vector<Average> averages;
    std::vector<AverageInterval> average_intervals;
    std::int64_t resolution_ns = 1;
    bool counts_drops = false;
    std::vector<Drop> drops;
    std::vector<Stack> stacks;
    std::string counted;
    std::vector<Tally> tallies;
    bool mixed_units = false, levels = false;
    std::int64_t counters_read = 0;
    std::vector<Call> calls;
    std::int64_t calls_left_out = 0;
    std::vector<Interval> intervals;
    std::optional<table::CounterTracks> readings;

    [[nodiscard]] bool counts() const { return (counts_drops || !counted.empty()) && stages.empty(); }
};

inline Measured measured_of(const Summary& summary) {
    Measured measured;
    static_cast<kinds::Run&>(measured) = summary;
    measured.put(summary.intervals);
    for (const auto& [name, group, stats] : summary.stages)
        measured.of<rows::Stage>().push_back({name, group, stats});
    for (const auto& [name, group, stats] : summary.values)
        measured.of<rows::Value>().push_back({name, group, stats});
    for (const auto& breakdown : summary.breakdowns)
        measured.of<rows::Breakdown>().push_back({breakdown.direction(), breakdown.stages(), breakdown});
    measured.one<rows::Precision>().resolution_ns = summary.resolution_ns;
    measured.of<rows::Series>().push_back({summary.series});
    for (const auto& average : summary.averages)
        measured.of<rows::AverageOf>().push_back({average.name, average});
    auto& average_intervals = measured.of<rows::AveragesOfInterval>();
    for (const auto& [line, n, all] : summary.average_intervals) {
        auto& put = average_intervals.emplace_back(rows::AveragesOfInterval{std::ssize(average_intervals), line, n});
        for (const auto& average : all)
            put.averages.push_back({average.name, average});
    }
    measured.put(summary.drops);
    measured.of<Drop>().is_there = summary.counts_drops || !summary.drops.empty();
    measured.put(summary.stacks);
    auto& counts = measured.of<Tally>();
    measured.put(summary.tallies);
    for (auto& count : counts)
        count.counted = summary.counted;
    counts.is_there = !summary.counted.empty() || !counts.empty();
    auto& counting = measured.one<rows::Counting>();
    if (!summary.counted.empty()) counting.counted = summary.counted;
    counting.mixed_units = summary.mixed_units;
    counting.levels = summary.levels;
    if (summary.counters_read > 0) counting.counters_read = summary.counters_read;
    auto& calls = measured.of<Call>();
    measured.put(summary.calls);
    calls.left_out = summary.calls_left_out;
    calls.is_there = !calls.empty() || calls.left_out > 0;
    if (summary.readings) measured.one<rows::Readings>().tracks = *summary.readings;
    return measured;
}

inline Summary summary_of(const Measured& measured) {
    Summary summary;
    static_cast<kinds::Run&>(summary) = measured;
    summary.intervals = measured.of<Interval>();
    for (const auto& row : measured.of<rows::Stage>())
        summary.stages.push_back({row.stage, row.group, *row.distribution});
    for (const auto& row : measured.of<rows::Value>())
        summary.values.push_back({row.value, row.group, *row.distribution});
    for (const auto& row : measured.of<rows::Breakdown>())
        summary.breakdowns.push_back(*row.breakdown);
    summary.series = *measured.one<rows::Series>().series;
    summary.resolution_ns = measured.one<rows::Precision>().resolution_ns;
    const auto put = [](std::vector<Average>& averages, const rows::AverageOf& row) {
        auto& average = averages.emplace_back();
        static_cast<table::Average&>(average) = row.average;
        average.name = row.name;
    };
    for (const auto& row : measured.of<rows::AverageOf>())
        put(summary.averages, row);
    for (const auto& row : measured.of<rows::AveragesOfInterval>()) {
        summary.average_intervals.push_back({row.line, row.n, {}});
        for (const auto& average : row.averages)
            put(summary.average_intervals.back().averages, average);
    }
    summary.counts_drops = measured.of<Drop>().is_there;
    summary.drops = measured.of<Drop>();
    summary.stacks = measured.of<Stack>();
    summary.tallies = measured.of<Tally>();
    summary.calls = measured.of<Call>();
    summary.calls_left_out = measured.of<Call>().left_out;
    const auto& counting = measured.one<rows::Counting>();
    summary.counted = counting.counted.value_or("");
    summary.mixed_units = counting.mixed_units;
    summary.levels = counting.levels;
    summary.counters_read = counting.counters_read.value_or(0);
    if (measured.has<rows::Readings>()) summary.readings = measured.one<rows::Readings>().tracks;
    return summary;
}

inline bool is_whole(const Summary& summary) {
    return summary.is_whole();
}

/// Of drops, and frames of paths.
void for_each_place(auto& summary, auto call) {
    for (auto& drop : summary.drops)
        call(drop.place);
    for (auto& stack : summary.stacks) {
        auto path = *stack.frames;
        for (auto& place : path)
            call(place);
        stack.frames = std::move(path);
    }
}

inline rows::Results results_of(const Summary& summary, const kinds::Asked& asked = {}) {
    return analyze::results_of(measured_of(summary), asked);
}

/// Of all intervals together, as they are written.
template <class Row>
std::vector<Row> total(const Summary& summary) {
    return results_of(summary).of<Row>();
}

inline const table::Histogram* stage_of(const Summary& summary, std::string_view name) {
    for (const auto& stage : summary.stages)
        if (stage.name == name && stage.group.empty()) return &stage.stats;
    return nullptr;
}

inline std::vector<Measured> measured_of(const std::vector<Summary>& all) {
    std::vector<Measured> measured;
    for (const auto& summary : all)
        measured.push_back(measured_of(summary));
    return measured;
}

inline void name_groups(Summary& summary, const analyze::NameOf& name_of) {
    auto measured = measured_of(summary);
    analyze::name_groups(measured, name_of);
    summary = summary_of(measured);
}

inline base::Result<void> merge(Summary& into, const Summary& more) {
    auto sum = measured_of(into);
    auto done = analyze::merge(sum, measured_of(more));
    into = summary_of(sum);
    return done;
}

inline Summary merge_all(const std::vector<Summary>& all) {
    return summary_of(analyze::merge_all(measured_of(all)));
}

}  // namespace stapgen::summaries
