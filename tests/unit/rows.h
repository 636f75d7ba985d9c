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

namespace stapgen::rows {

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
    using table::Value, table::value_of;
    Measured measured;
    static_cast<kinds::Run&>(measured) = summary;
    auto& tables = measured.tables;
    auto intervals = kinds::intervals_table();
    for (const auto& [start, end] : summary.intervals)
        intervals.rows.push_back({std::ssize(intervals.rows), value_of(start), value_of(end)});
    tables.push_back(std::move(intervals));
    for (const bool is_stage : {true, false}) {
        auto table = is_stage ? kinds::latency::stages_table() : kinds::latency::values_table();
        for (const auto& [name, group, stats] : is_stage ? summary.stages : summary.values)
            table.rows.push_back({name, group, stats});
        if (!table.rows.empty()) tables.push_back(std::move(table));
    }
    auto breakdowns = kinds::latency::breakdowns_table();
    for (const auto& breakdown : summary.breakdowns)
        breakdowns.rows.push_back({breakdown.direction(), breakdown.stages(), breakdown});
    if (!breakdowns.rows.empty()) tables.push_back(std::move(breakdowns));
    tables.push_back({.name = "precision",
                      .columns = {{"resolution_ns", table::Type::duration, table::Meet::largest}},
                      .rows = {{summary.resolution_ns}},
                      .shape = table::Shape::none});
    auto series = kinds::latency::series_table();
    series.rows.push_back({summary.series});
    tables.push_back(std::move(series));
    auto averages = kinds::averages_table();
    for (const auto& average : summary.averages)
        averages.rows.push_back({average.name, static_cast<const table::Average&>(average)});
    if (!averages.rows.empty()) tables.push_back(std::move(averages));
    auto average_intervals = kinds::average_intervals_table();
    for (std::size_t i = 0; i < summary.average_intervals.size(); ++i) {
        const auto& [line, n, all] = summary.average_intervals[i];
        const auto number = static_cast<std::int64_t>(i);
        for (const auto& average : all)
            average_intervals.rows.push_back(
                {number, line, n, average.name, static_cast<const table::Average&>(average)});
        if (all.empty()) average_intervals.rows.push_back({number, line, n, {}, {}});
    }
    if (!average_intervals.rows.empty()) tables.push_back(std::move(average_intervals));
    auto drops = kinds::drops::drops_table();
    for (const auto& drop : summary.drops)
        drops.rows.push_back(
            {value_of(drop.end_epoch_ns), drop.interval, drop.place, drop.reason, drop.group, drop.count});
    if (summary.counts_drops || !drops.rows.empty()) tables.push_back(std::move(drops));
    auto stacks = kinds::drops::stacks_table();
    for (const auto& stack : summary.stacks)
        stacks.rows.push_back({value_of(stack.end_epoch_ns), stack.interval, stack.reason, stack.count, stack.frames});
    if (!stacks.rows.empty()) tables.push_back(std::move(stacks));
    auto counts = kinds::counts::counts_table();
    for (const auto& tally : summary.tallies) {
        counts.rows.push_back({value_of(tally.end_epoch_ns), tally.interval, summary.counted, tally.group, tally.count,
                               tally.meaning.empty() ? Value() : Value(tally.meaning), tally.loss,
                               tally.loss_by_name ? Value(true) : Value(), value_of(tally.per_s)});
    }
    if (!summary.counted.empty() || !counts.rows.empty()) {
        tables.push_back(std::move(counts));
        if (!summary.counted.empty()) kinds::counts::set_fact(measured, "counted", summary.counted);
    }
    if (summary.mixed_units) kinds::counts::set_fact(measured, "mixed_units", true);
    if (summary.levels) kinds::counts::set_fact(measured, "levels", true);
    if (summary.counters_read > 0) kinds::counts::set_fact(measured, "counters_read", summary.counters_read);
    if (!summary.calls.empty() || summary.calls_left_out > 0) {
        auto calls = kinds::calls::calls_table();
        for (const auto& call : summary.calls) {
            calls.rows.push_back({call.packet, call.begin_ns, call.duration_ns, call.depth, call.function, call.args,
                                  call.in_thread ? "thread" : "softirq", call.cpu, call.tid, call.comm});
        }
        calls.left_out = summary.calls_left_out;
        tables.push_back(std::move(calls));
    }
    if (summary.readings) {
        tables.push_back({.name = "readings",
                          .columns = {{"readings", table::Type::tracks, table::Meet::add}},
                          .rows = {{*summary.readings}},
                          .shape = table::Shape::none});
    }
    return measured;
}

inline Summary summary_of(const Measured& measured) {
    using table::held, table::known;
    Summary summary;
    static_cast<kinds::Run&>(summary) = measured;
    const auto number = [](const table::Value& value) { return known<std::int64_t>(value); };
    const auto text = [](const table::Value& value) { return known<std::string>(value).value_or(""); };
    for (const auto& row : measured.at("intervals").rows)
        summary.intervals.push_back({number(row[1]), number(row[2])});
    for (auto* measures : {&summary.stages, &summary.values}) {
        for (const auto& row : measured.at(measures == &summary.stages ? "stages" : "values").rows)
            measures->push_back({text(row[0]), *held<Group>(row[1]), *held<table::Histogram>(row[2])});
    }
    for (const auto* breakdown : kinds::latency::breakdowns_of(measured))
        summary.breakdowns.push_back(*breakdown);
    summary.series = kinds::latency::series_of(measured);
    summary.resolution_ns = kinds::latency::resolution_of(measured);
    for (const auto& [name, average] : kinds::averages_of(measured)) {
        auto& put = summary.averages.emplace_back();
        static_cast<table::Average&>(put) = *average;
        put.name = name;
    }
    for (const auto& row : measured.at("average_intervals").rows) {
        if (table::count_of(row[0]) == std::ssize(summary.average_intervals))
            summary.average_intervals.push_back({table::count_of(row[1]), table::count_of(row[2]), {}});
        if (const auto* average = held<table::Average>(row[4])) {
            auto& put = summary.average_intervals.back().averages.emplace_back();
            static_cast<table::Average&>(put) = *average;
            put.name = text(row[3]);
        }
    }
    summary.counts_drops = measured.has("drops");
    const auto& drops = measured.at("drops");
    for (const auto& row : drops.rows) {
        summary.drops.push_back({table::count_of(row[1]), number(row[0]), *held<table::Place>(row[2]),
                                 *held<table::Reason>(row[3]), *held<Group>(row[4]), table::count_of(row[5])});
    }
    for (const auto& row : measured.at("stacks").rows) {
        // One by one: GCC 12 takes the members of a temporary for uninitialized.
        auto& stack = summary.stacks.emplace_back();
        stack.interval = table::count_of(row[1]);
        stack.end_epoch_ns = number(row[0]);
        stack.reason = *held<table::Reason>(row[2]);
        stack.frames = std::get<table::Shared<table::Path>>(row[4]);
        stack.count = table::count_of(row[3]);
    }
    summary.counted = text(measured.fact("counting", "counted"));
    summary.mixed_units = measured.fact("counting", "mixed_units") == table::Value(true);
    summary.levels = measured.fact("counting", "levels") == table::Value(true);
    summary.counters_read = table::count_of(measured.fact("counting", "counters_read"));
    for (const auto& row : measured.at("counts").rows) {
        summary.tallies.push_back({table::count_of(row[1]), number(row[0]), *held<Group>(row[3]),
                                   table::count_of(row[4]), text(row[5]), row[6] == table::Value(true),
                                   row[7] == table::Value(true), known<double>(row[8])});
    }
    const auto& calls = measured.at("calls");
    summary.calls_left_out = calls.left_out;
    for (const auto& row : calls.rows) {
        summary.calls.push_back({table::count_of(row[0]), table::count_of(row[1]), table::count_of(row[2]),
                                 table::count_of(row[3]), text(row[4]), text(row[5]), text(row[6]) == "thread",
                                 table::count_of(row[7]), table::count_of(row[8]), text(row[9])});
    }
    if (measured.has("readings")) summary.readings = *held<table::CounterTracks>(measured.at("readings").rows[0][0]);
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

inline table::Results results_of(const Summary& summary, const kinds::Asked& asked = {}) {
    return analyze::results_of(measured_of(summary), asked);
}

/// Of all intervals together, as they are written.
inline std::vector<Drop> total_drops(const Summary& summary) {
    std::vector<Drop> drops;
    const auto results = results_of(summary);
    for (const auto& row : results.at("drops", table::Scope::whole).rows) {
        drops.push_back({0,
                         {},
                         *table::held<table::Place>(row[0]),
                         *table::held<table::Reason>(row[1]),
                         *table::held<Group>(row[2]),
                         table::count_of(row[3])});
    }
    return drops;
}

inline std::vector<Stack> total_stacks(const Summary& summary) {
    std::vector<Stack> stacks;
    const auto results = results_of(summary);
    for (const auto& row : results.at("stacks", table::Scope::whole).rows) {
        auto& stack = stacks.emplace_back();
        stack.reason = *table::held<table::Reason>(row[0]);
        stack.frames = std::get<table::Shared<table::Path>>(row[2]);
        stack.count = table::count_of(row[1]);
    }
    return stacks;
}

inline std::vector<Tally> total_tallies(const Summary& summary) {
    std::vector<Tally> tallies;
    const auto results = results_of(summary);
    for (const auto& row : results.at("counts", table::Scope::whole).rows) {
        tallies.push_back({0,
                           {},
                           *table::held<Group>(row[1]),
                           table::count_of(row[2]),
                           table::known<std::string>(row[3]).value_or(""),
                           row[4] == table::Value(true),
                           row[5] == table::Value(true),
                           table::known<double>(row[6])});
    }
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

}  // namespace stapgen::rows
