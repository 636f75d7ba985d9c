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

using analyze::check_one_definition, analyze::Analyzer;
using kinds::Measured, kinds::Note, kinds::NoteKind, kinds::Cause, kinds::Accounting, kinds::Cost, kinds::Sample,
    kinds::ProbeCost, kinds::Origin, kinds::Counter, kinds::Transport, kinds::Averages, kinds::sum_of,
    kinds::IntervalLog, kinds::Settings, kinds::script_counts, kinds::difference;
using table::Block, table::Breakdown, table::Series, table::SlowRecord, table::Group, table::GroupField;

struct Measure {
    std::string name;
    Group group;
    table::Histogram stats;
};

struct Drop {
    std::int64_t interval = 0;
    std::optional<std::int64_t> end_epoch_ns{};
    table::Place place{};
    table::Reason reason{};
    Group group{};
    std::int64_t count = 0;
};

struct Stack {
    std::int64_t interval = 0;
    std::optional<std::int64_t> end_epoch_ns{};
    table::Reason reason{};
    table::Shared<table::Path> frames{table::Path()};
    std::int64_t count = 0;
};

struct Tally {
    std::int64_t interval = 0;
    std::optional<std::int64_t> end_epoch_ns{};
    Group group{};
    std::int64_t count = 0;
    std::string meaning{};
    bool loss = false, loss_by_name = false;
    std::optional<double> per_s{};
};

struct Call {
    static constexpr std::size_t max_kept = 10000, max_text_length = 256;

    std::int64_t packet = 0, begin_ns = 0, duration_ns = 0, depth = 0;
    std::string function, args;
    bool in_thread = false;
    std::int64_t cpu = 0, tid = 0;
    std::string comm;
};

struct Interval {
    std::optional<std::int64_t> start_epoch_ns, end_epoch_ns;
};

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
    bool has_stages = false;

    [[nodiscard]] bool counts() const { return (counts_drops || !counted.empty()) && stages.empty(); }
};

inline Measured measured_of(const Summary& summary) {
    Measured measured;
    static_cast<kinds::Run&>(measured) = summary;
    auto& intervals = measured.of<rows::Interval>();
    for (const auto& [start, end] : summary.intervals)
        intervals.push_back({std::ssize(intervals), start, end});
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
    auto& drops = measured.of<rows::OfInterval<rows::Drop>>();
    for (const auto& drop : summary.drops)
        drops.push_back({{drop.place, drop.reason, drop.group, drop.count}, drop.end_epoch_ns, drop.interval});
    drops.is_there = summary.counts_drops || !drops.empty();
    for (const auto& stack : summary.stacks)
        measured.of<rows::OfInterval<rows::Stack>>().push_back(
            {{stack.reason, stack.count, stack.frames}, stack.end_epoch_ns, stack.interval});
    auto& counts = measured.of<rows::OfInterval<rows::Count>>();
    for (const auto& tally : summary.tallies) {
        counts.push_back({{summary.counted, tally.group, tally.count,
                           tally.meaning.empty() ? std::nullopt : std::optional(tally.meaning), tally.loss,
                           tally.loss_by_name, tally.per_s},
                          tally.end_epoch_ns,
                          tally.interval});
    }
    counts.is_there = !summary.counted.empty() || !counts.empty();
    auto& counting = measured.one<rows::Counting>();
    if (!summary.counted.empty()) counting.counted = summary.counted;
    counting.mixed_units = summary.mixed_units;
    counting.levels = summary.levels;
    if (summary.counters_read > 0) counting.counters_read = summary.counters_read;
    auto& calls = measured.of<rows::Call>();
    for (const auto& call : summary.calls)
        calls.push_back({call.packet, call.begin_ns, call.duration_ns, call.depth, call.function, call.args,
                         call.in_thread ? "thread" : "softirq", call.cpu, call.tid, call.comm});
    calls.left_out = summary.calls_left_out;
    calls.is_there = !calls.empty() || calls.left_out > 0;
    if (summary.readings) measured.one<rows::Readings>().tracks = *summary.readings;
    return measured;
}

inline Summary summary_of(const Measured& measured) {
    Summary summary;
    static_cast<kinds::Run&>(summary) = measured;
    for (const auto& [interval, start, end] : measured.of<rows::Interval>())
        summary.intervals.push_back({start, end});
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
    const auto& drops = measured.of<rows::OfInterval<rows::Drop>>();
    summary.counts_drops = drops.is_there;
    for (const auto& row : drops)
        summary.drops.push_back({row.interval, row.time, row.place, row.reason, row.group, row.count});
    for (const auto& row : measured.of<rows::OfInterval<rows::Stack>>()) {
        // One by one: GCC 12 takes the members of a temporary for uninitialized.
        auto& stack = summary.stacks.emplace_back();
        stack.interval = row.interval;
        stack.end_epoch_ns = row.time;
        stack.reason = row.reason;
        stack.frames = row.frames;
        stack.count = row.count;
    }
    const auto& counting = measured.one<rows::Counting>();
    summary.counted = counting.counted.value_or("");
    summary.mixed_units = counting.mixed_units;
    summary.levels = counting.levels;
    summary.counters_read = counting.counters_read.value_or(0);
    for (const auto& row : measured.of<rows::OfInterval<rows::Count>>())
        summary.tallies.push_back({row.interval, row.time, row.group, row.count, row.meaning.value_or(""), row.loss,
                                   row.loss_by_name, row.per_s});
    const auto& calls = measured.of<rows::Call>();
    summary.calls_left_out = calls.left_out;
    for (const auto& call : calls)
        summary.calls.push_back({call.packet, call.begin_ns, call.duration_ns, call.depth, call.function, call.args,
                                 call.in_thread(), call.cpu, call.tid, call.comm});
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
inline std::vector<Drop> total_drops(const Summary& summary) {
    std::vector<Drop> drops;
    const auto results = results_of(summary);
    for (const auto& row : results.of<rows::Drop>())
        drops.push_back({0, {}, row.place, row.reason, row.group, row.count});
    return drops;
}

inline std::vector<Stack> total_stacks(const Summary& summary) {
    std::vector<Stack> stacks;
    const auto results = results_of(summary);
    for (const auto& row : results.of<rows::Stack>()) {
        auto& stack = stacks.emplace_back();
        stack.reason = row.reason;
        stack.frames = row.frames;
        stack.count = row.count;
    }
    return stacks;
}

inline std::vector<Tally> total_tallies(const Summary& summary) {
    std::vector<Tally> tallies;
    const auto results = results_of(summary);
    for (const auto& row : results.of<rows::Count>())
        tallies.push_back(
            {0, {}, row.group, row.count, row.meaning.value_or(""), row.loss, row.loss_by_name, row.per_s});
    return tallies;
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
