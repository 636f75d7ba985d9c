// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/aggregates.h"
#include "analyze/analyzer.h"
#include "analyze/groups.h"
#include "analyze/interval_counts.h"
#include "analyze/plan.h"
#include "base/limits.h"
#include "base/same_text.h"

namespace stapgen::analyze {

/// What an Analyzer has so far. Included by its own file only.
struct Analyzer::State {
    const decode::Header* header;
    AnalyzerOptions options;
    std::vector<Plan> plans;
    std::vector<MeasureName> measures;
    std::optional<Groups> current;  ///< since the last tick, if intervals are kept
    Groups total;
    /// Recipe, breakdowns, series, counters, calls, costs and what is aggregated, up to now; times of records by the
    /// kernel's clock.
    Summary so_far;
    Averages averages;
    AggregateCollector aggregates;
    std::int64_t aggregated_before = 0;  ///< at the last tick

    IntervalLog log;
    DropLog drops{log};
    CountLog tallies{log};
    StackLog stacks{log};
    std::vector<std::int64_t> stage_values;

    Accounting script;           ///< what it said last
    bool script_counts = false;  ///< it has said so
    std::int64_t received = 0;
    std::int64_t received_at_counts = 0;
    std::int64_t filtered = 0;  ///< of those received
    std::int64_t records_in_interval = 0;
    Accounting before;
    bool closed = false;

    std::optional<decode::Ready> ready;
    std::optional<std::int64_t> last_record_ns;
    std::optional<std::int64_t> last_epoch_ns;
    std::optional<std::int64_t> interval_start;
    std::int64_t last_length_ns = 0;  ///< of the interval before
    std::optional<Summary> closed_interval;

    State(const decode::Header& of, AnalyzerOptions with)
        : header(&of), options(std::move(with)), total(options.max_groups) {
        so_far.recipe = of.recipe;
        so_far.resolution_ns = options.resolution_ns;
        if (options.keep_intervals) current.emplace(options.max_groups);
    }

    void add(const decode::Ready& at) {
        ready = at;
        interval_start = at.epoch_ns;
    }
    void add(const decode::Tick& tick);
    void add(const decode::End& end);
    void add(const decode::BinsLine& line) { aggregates.add(line); }
    void add(const decode::SumLine& line) { aggregates.add(line); }
    void add(const decode::SplitLine& line) { aggregates.add(line); }
    void add(const decode::SlowLine& line) { add_slow(line.record); }
    void add(const decode::RunningMeans& means) { averages.add(means); }
    void add(const decode::ProbeTimes& times) { so_far.cost.add(times); }
    void add(const decode::CounterReading& reading) { so_far.tracks.add(reading); }
    /// Headers, and what is not recognised.
    template <class Other>
    void add(const Other& /*line*/) {}

    [[gnu::always_inline]] Plan& plan_for(const decode::Schema& schema) {
        return schema.index < plans.size() ? plans[schema.index] : make_plan(schema);
    }
    Plan& make_plan(const decode::Schema& schema);
    void add(const decode::Record& record);
    void count_filtered(const decode::Record& record);
    void add_stages(Plan& plan, const decode::Record& record);
    std::optional<std::int64_t> read_parts(const Plan& plan, const decode::Record& record, auto each);
    void add_slow(const decode::Record& record);
    void settle(std::optional<std::int64_t> epoch_ns);
    Block* block_of_interval(std::optional<std::int64_t> end_epoch_ns);
    [[gnu::always_inline]] Breakdown& breakdown_of(Plan& plan, std::string_view direction) {
        for (const auto known : plan.breakdowns) {
            if (base::are_same(so_far.breakdowns[known].direction(), direction)) return so_far.breakdowns[known];
        }
        return make_breakdown(plan, direction);
    }
    /// Whether a breakdown has no room beside those that there are.
    [[nodiscard]] static bool are_full(const std::vector<Breakdown>& breakdowns, std::size_t more_stages) {
        for (const auto& known : breakdowns)
            more_stages += known.stages().size();
        return more_stages > base::limits::direction_stages;
    }
    Breakdown& make_breakdown(Plan& plan, std::string_view direction);
    [[nodiscard]] SlowRecord slow_record(const Plan& plan, const decode::Record& record, std::int64_t total_ns) const;
    void counted(std::optional<std::int64_t> epoch_ns, std::span<const decode::Count> counts);
    void close_interval(std::optional<std::int64_t> epoch_ns);
    [[nodiscard]] Accounting accounting() const;
    void put_results(const Groups& groups, Summary& summary) const;
};

}  // namespace stapgen::analyze
