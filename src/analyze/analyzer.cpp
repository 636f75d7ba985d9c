// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/analyzer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyze/analyzer_state.h"
#include "base/limits.h"
#include "base/saturate.h"

namespace stapgen::analyze {

namespace {

std::optional<std::int64_t> known_time(std::int64_t epoch_ns) {
    return epoch_ns == decode::unknown_time ? std::nullopt : std::optional(epoch_ns);
}

/// Blocks of time are not made longer than this, about a day.
constexpr std::int64_t max_block_ns = std::int64_t{1} << 46;

/// How often what a record is of happened.
[[gnu::always_inline]] inline std::int64_t count_of(const Plan& plan, const decode::Record& record) {
    return plan.count ? record.values[*plan.count].number : 1;
}

/// The end line may come a moment after the last tick: too short to be an interval of its own.
constexpr std::int64_t min_interval_ns = 50'000'000;

}  // namespace

Plan& Analyzer::State::make_plan(const decode::Schema& schema) {
    while (plans.size() <= schema.index) {
        auto& plan = plans.emplace_back(plan_of(header->schemas[plans.size()], options.group_by, measures));
        const auto stages = static_cast<std::size_t>(std::ranges::count(measures, true, &MeasureName::is_stage));
        if (plans.size() == 1) so_far.series = Series(stages, measures.size() - stages);
        for (auto& slot : plan.slots)
            slot.in_series = slot.place < (slot.is_stage ? so_far.series.stages() : so_far.series.values());
    }
    return plans.back();
}

void Analyzer::State::add(const decode::Record& record) {
    Plan& plan = plan_for(*record.schema);
    const auto count = count_of(plan, record);
    if (plan.is_main) base::add_saturating(received, count);
    ++records_in_interval;
    if (plan.time) {
        const auto time = record.values[*plan.time].number;
        last_record_ns = std::max(last_record_ns.value_or(time), time);
    }
    if (plan.is_drop()) {
        const auto* reason = plan.reason ? &record.values[*plan.reason] : nullptr;
        const auto type = plan.reason ? record.schema->fields[*plan.reason].type : decode::FieldType::reason;
        drops.add(record.values[*plan.place].raw, reason, type, count, {&record, plan.group_keys});
    } else if (plan.is_stack()) {
        stacks.add(record.values[*plan.stack].raw, plan.reason ? &record.values[*plan.reason] : nullptr, count);
    } else if (plan.is_count()) {
        tallies.add(record, plan.group_keys, count);
    }
    if (plan.is_call) add_call(so_far, record);
    if (!plan.slots.empty()) add_stages(plan, record);
}

void Analyzer::State::count_filtered(const decode::Record& record) {
    const Plan& plan = plan_for(*record.schema);
    if (!plan.is_main) return;
    const auto count = count_of(plan, record);
    base::add_saturating(received, count);
    base::add_saturating(filtered, count);
}

/// Calls for each stage and value that was seen. Puts the parts into stage_values and returns the total; nothing where
/// neither that nor a part was seen.
std::optional<std::int64_t> Analyzer::State::read_parts(const Plan& plan, const decode::Record& record, auto each) {
    stage_values.resize(plan.parts.size());
    const auto* const values = record.values.data();
    auto* part = stage_values.data();
    std::int64_t sum = 0;
    bool is_seen = false;
    for (const auto& slot : plan.slots) {
        const auto& value = values[slot.field];
        if (slot.is_part) {
            *part++ = value.seen ? value.number : -1;
            if (value.seen) sum = base::saturating_add(sum, value.number);
            is_seen |= value.seen;
        }
        if (value.seen) each(slot, value.number);
    }
    if (plan.total && values[*plan.total].seen) return values[*plan.total].number;
    return is_seen ? std::optional(sum) : std::nullopt;
}

void Analyzer::State::add_stages(Plan& plan, const decode::Record& record) {
    auto& part = (current ? *current : total).part_of(record, plan.group_keys);
    part.hold(measures.size());
    const auto time_ns = plan.time ? std::optional(record.values[*plan.time].number) : std::nullopt;
    Block* const block = time_ns && options.keep_series ? &so_far.series.at(*time_ns) : nullptr;
    auto* const of_part = part.measures.data();
    auto* const of_block = block != nullptr ? block->stages.data() : nullptr;
    const auto add = [&](const Plan::Slot& slot, std::int64_t value) {
        of_part[slot.measure].add(value);
        if (block != nullptr && slot.in_series)
            (slot.is_stage ? of_block : block->values.data())[slot.place].add(value);
    };
    const auto total_ns = read_parts(plan, record, add);
    if (!total_ns || plan.is_call) return;  // of calls one is a part of another: they do not add up
    auto& breakdown = breakdown_of(plan, plan.direction_in(record));
    if (breakdown.add(*total_ns, stage_values, time_ns)) breakdown.keep(slow_record(plan, record, *total_ns));
}

Breakdown& Analyzer::State::make_breakdown(Plan& plan, std::string_view direction) {
    auto& all = so_far.breakdowns;
    const auto find = [&] {
        return std::ranges::find_if(all, [&](const Breakdown& known) { return known.is_of(direction, plan.parts); });
    };
    auto found = find();
    if (found == all.end() && are_full(all, plan.parts.size())) {
        direction = "other";
        found = find();
    }
    const auto place = static_cast<std::size_t>(found - all.begin());
    if (std::ranges::find(plan.breakdowns, place) == plan.breakdowns.end()) plan.breakdowns.push_back(place);
    if (found != all.end()) return *found;
    return all.emplace_back(std::string(direction), plan.parts, options.slowest);
}

SlowRecord Analyzer::State::slow_record(const Plan& plan, const decode::Record& record, std::int64_t total_ns) const {
    SlowRecord slow;
    slow.total_ns = total_ns;
    if (plan.time) slow.time_ns = record.values[*plan.time].number;
    for (const auto value : stage_values)
        slow.stages.push_back(value < 0 ? std::nullopt : std::optional(value));
    for (std::size_t i = 0; i < record.schema->fields.size(); ++i) {
        const auto type = record.schema->fields[i].type;
        if (type == decode::FieldType::stage || type == decode::FieldType::time || i == plan.direction) continue;
        slow.of.push_back(group_field(record, {i, false}));
    }
    return slow;
}

void Analyzer::State::add_slow(const decode::Record& record) {
    Plan& plan = plan_for(*record.schema);
    const auto pass_over = [](const Plan::Slot& /*slot*/, std::int64_t /*value*/) {};
    const auto total_ns = read_parts(plan, record, pass_over).value_or(0);
    auto& breakdown = breakdown_of(plan, plan.direction_in(record));
    auto slow = slow_record(plan, record, total_ns);
    if (!breakdown.is_slow(total_ns, slow.time_ns)) return;
    // The kernel may print it at two ticks.
    if (!breakdown.keeps(slow)) breakdown.keep(std::move(slow));
}

/// Where the values of an interval go, whose times are not known one by one: the block of its start. Where intervals
/// are longer than blocks, these are made longer; one that came late is no reason.
Block* Analyzer::State::block_of_interval(std::optional<std::int64_t> end_epoch_ns) {
    const auto start_epoch_ns = interval_start ? interval_start : end_epoch_ns;
    if (!start_epoch_ns || !options.keep_series) return nullptr;
    const auto length = base::saturating_subtract(end_epoch_ns.value_or(*start_epoch_ns), *start_epoch_ns);
    const auto usual = std::min(length, std::exchange(last_length_ns, length));
    auto& series = so_far.series;
    while (usual > series.block_ns() + series.block_ns() / 8 && series.block_ns() < max_block_ns)
        series.coarsen(series.block_ns() * 2);
    if (!ready) return &series.at(*start_epoch_ns);
    const auto since = base::saturating_subtract(*start_epoch_ns, ready->epoch_ns);
    return &series.at(base::saturating_add(ready->monotonic_ns, since));
}

/// What was aggregated since the last tick becomes a part of the whole.
void Analyzer::State::settle(std::optional<std::int64_t> epoch_ns) {
    if (aggregates.empty()) return;
    const auto interval = aggregates.take();
    auto& part = (current ? *current : total).ungrouped();
    Block* block = block_of_interval(epoch_ns);
    for (const auto& [schema, field, histogram, totals] : interval.values) {
        const auto& plan = plan_for(*schema);
        const auto slot = std::ranges::find(plan.slots, field, &Plan::Slot::field);
        part.hold(measures.size());
        part.measures[slot->measure] += histogram;
        if (block != nullptr && slot->in_series)
            (slot->is_stage ? block->stages : block->values)[slot->place] += histogram;
    }
    std::int64_t records = 0;
    for (const auto& [schema, direction, index, n, sums_ns] : interval.splits) {
        breakdown_of(plan_for(*schema), direction)
            .add(schema::bins::middle<schema::bins::split_per_doubling>(index), n, sums_ns);
        base::add_saturating(records, n);
    }
    records = std::max<std::int64_t>(0, base::saturating_subtract(records, interval.partial));
    base::add_saturating(so_far.aggregated, records);
    base::add_saturating(received, records);
    base::add_saturating(records_in_interval, std::max<std::int64_t>(records, 1));
}

Accounting Analyzer::State::accounting() const {
    Accounting result = script;
    const bool is_final = closed && script_counts;
    const auto later = std::max<std::int64_t>(0, base::saturating_subtract(received, received_at_counts));
    if (!is_final) base::add_saturating(result.seen, later);
    result.reported = base::saturating_subtract(received, filtered);
    base::add_saturating(result.filtered, filtered);
    result.closed = closed;
    const auto missing = base::saturating_subtract(script.reported, is_final ? received : received_at_counts);
    if (missing > 0) add_cause(result.lost, "transport", missing);
    return result;
}

/// The measures, and whether records are drops or counts of what.
void Analyzer::State::put_results(const Groups& groups, Summary& summary) const {
    const auto put = [&](const Groups::Part& part) {
        for (std::size_t i = 0; i < measures.size(); ++i) {
            auto& rows = measures[i].is_stage ? summary.stages : summary.values;
            rows.push_back(
                {measures[i].name, part.group, i < part.measures.size() ? part.measures[i] : table::Histogram()});
            if (measures[i].is_stage) rows.back().stats.set_resolution(options.resolution_ns);
        }
    };
    put(groups.whole());
    for (const auto* part : groups.in_order())
        put(*part);
    summary.counts_drops = std::ranges::any_of(plans, &Plan::is_drop);
    if (const auto counting = std::ranges::find_if(plans, &Plan::is_count); counting != plans.end()) {
        const auto& schema = header->schemas[static_cast<std::size_t>(counting - plans.begin())];
        summary.counted = schema.fields[*counting->count].name;
    }
}

void Analyzer::State::close_interval(std::optional<std::int64_t> epoch_ns) {
    const Interval interval{interval_start, epoch_ns};
    if (current) {
        Summary summary;
        summary.recipe = header->recipe;
        put_results(*current, summary);
        const auto of_this = [&](auto rows) {
            for (auto& row : rows) {
                row.interval = 0;
                row.end_epoch_ns = epoch_ns;
            }
            return rows;
        };
        summary.drops = of_this(drops.open_rows());
        summary.tallies = of_this(tallies.open_rows());
        summary.stacks = of_this(stacks.open_rows());
        summary.intervals = {interval};
        summary.accounting = difference(accounting(), before);
        summary.accounting.closed = true;
        summary.aggregated = so_far.aggregated - aggregated_before;
        summary.start_epoch_ns = interval_start;
        summary.end_epoch_ns = epoch_ns;
        closed_interval = std::move(summary);
        total += *current;
        current.emplace(options.max_groups);
    }
    log.close(interval);
    before = accounting();
    aggregated_before = so_far.aggregated;
    interval_start = epoch_ns;
    records_in_interval = 0;
}

void Analyzer::State::counted(std::optional<std::int64_t> epoch_ns, std::span<const decode::Count> counts) {
    settle(epoch_ns);
    if (auto said = analyze::script_counts(counts)) {
        script = *std::move(said);
        script_counts = true;
        received_at_counts = received;
    }
    if (epoch_ns) last_epoch_ns = epoch_ns;
}

Analyzer::Analyzer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Analyzer::Analyzer(Analyzer&&) noexcept = default;
Analyzer& Analyzer::operator=(Analyzer&&) noexcept = default;
Analyzer::~Analyzer() = default;

base::Result<Analyzer> Analyzer::create(const decode::Header& header, AnalyzerOptions options) {
    if (auto found = check_group_keys(header, options.group_by); !found) return tl::make_unexpected(found.error());
    const auto measures = std::ranges::count_if(header.schemas.front().fields, schema::has_statistics);
    options.max_groups = std::min(options.max_groups, base::limits::group_histograms /
                                                          std::max<std::size_t>(static_cast<std::size_t>(measures), 1));
    auto state = std::make_unique<State>(header, std::move(options));
    for (const auto& known : header.schemas)
        state->plan_for(known);
    return Analyzer(std::move(state));
}

void Analyzer::State::add(const decode::Tick& tick) {
    const auto epoch_ns = known_time(tick.epoch_ns);
    counted(epoch_ns, tick.counts);
    close_interval(epoch_ns);
}

void Analyzer::State::add(const decode::End& end) {
    const auto epoch_ns = known_time(end.epoch_ns);
    closed = true;
    counted(epoch_ns, end.counts);
    const auto length = epoch_ns ? base::saturating_subtract(*epoch_ns, interval_start.value_or(0)) : 0;
    if (records_in_interval > 0 || log.intervals().empty() || length >= min_interval_ns) close_interval(epoch_ns);
}

void Analyzer::add(const decode::Line& line) {
    std::visit([this](const auto& of_its_kind) { state_->add(of_its_kind); }, line);
}

void Analyzer::add(const decode::Record& record) {
    state_->add(record);
}

void Analyzer::count_filtered(const decode::Record& record) {
    state_->count_filtered(record);
}

Summary Analyzer::summary() const {
    const State& state = *state_;
    Summary summary = state.so_far;
    summary.series.settle();
    if (state.current) {
        Groups all(state.options.max_groups);
        all += state.total;
        all += *state.current;
        state.put_results(all, summary);
    } else {
        state.put_results(state.total, summary);
    }
    summary.drops = state.drops.rows();
    summary.tallies = state.tallies.rows();
    summary.stacks = state.stacks.rows();
    summary.intervals = state.log.intervals();
    if (state.records_in_interval > 0) {
        std::ranges::move(state.drops.open_rows(), std::back_inserter(summary.drops));
        std::ranges::move(state.tallies.open_rows(), std::back_inserter(summary.tallies));
        std::ranges::move(state.stacks.open_rows(), std::back_inserter(summary.stacks));
        summary.intervals.push_back({state.interval_start, std::nullopt});
    }
    summary.notes = state.drops.notes();
    sort_calls(summary.calls);
    sort_breakdowns(summary.breakdowns);
    summary.accounting = state.accounting();
    state.averages.put_into(summary);
    if (state.ready) {
        // All times of records, from the kernel's clock to the epoch.
        const auto shift = base::saturating_subtract(state.ready->epoch_ns, state.ready->monotonic_ns);
        summary.series.shift(shift);
        for (auto& breakdown : summary.breakdowns)
            breakdown.shift(shift);
        for (auto& call : summary.calls)
            call.begin_ns = base::saturating_add(call.begin_ns, shift);

        summary.start_epoch_ns = state.ready->epoch_ns;
        if (state.last_record_ns) {
            const auto since = base::saturating_subtract(*state.last_record_ns, state.ready->monotonic_ns);
            summary.end_epoch_ns = base::saturating_add(state.ready->epoch_ns, since);
        }
    }
    if (state.closed) summary.end_epoch_ns = state.last_epoch_ns;
    summary.end_epoch_ns = std::max(summary.end_epoch_ns, state.last_epoch_ns);
    return summary;
}

Accounting Analyzer::accounting() const {
    return state_->accounting();
}

std::optional<Summary> Analyzer::take_interval() {
    return std::exchange(state_->closed_interval, std::nullopt);
}

}  // namespace stapgen::analyze
