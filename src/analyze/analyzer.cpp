#include "analyze/analyzer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyze/aggregate_collector.h"
#include "analyze/averages.h"
#include "analyze/call_log.h"
#include "analyze/count_log.h"
#include "analyze/counter_tracks.h"
#include "analyze/drop_log.h"
#include "analyze/groups.h"
#include "analyze/plan.h"
#include "base/saturate.h"
#include "base/text.h"

namespace stapgen::analyze {

namespace {

std::optional<std::int64_t> known_time(std::int64_t epoch_ns) {
    return epoch_ns == decode::unknown_time ? std::nullopt : std::optional(epoch_ns);
}

/// As it stands in the input; empty where there is none.
std::string_view direction_of(const Plan& plan, const decode::Record& record) {
    return plan.direction ? record.values[*plan.direction].raw : std::string_view();
}

/// Blocks of time are not made longer than this, about a day.
constexpr std::int64_t max_block_ns = std::int64_t{1} << 46;

/// The end line may come a moment after the last tick: too short to be an interval of its own.
constexpr std::int64_t min_interval_ns = 50'000'000;

}  // namespace

struct Analyzer::State {
    const decode::Header* header;
    AnalyzerOptions options;
    std::vector<Plan> plans;
    std::vector<MeasureName> measures;
    std::optional<Groups> current;  ///< since the last tick, if intervals are kept
    Groups total;
    std::vector<Breakdown> breakdowns;
    std::optional<Series> series;
    Averages averages;
    Cost cost;
    AggregateCollector aggregates;
    std::int64_t aggregated = 0, aggregated_before = 0;  ///< in all, and at the last tick

    IntervalLog log;
    DropLog drops{log};
    CountLog tallies{log};
    CounterTracks tracks;
    CallLog calls;
    std::vector<std::int64_t> stage_values;

    Accounting script;           ///< what it said last
    bool script_counts = false;  ///< it has said so
    std::int64_t received = 0;
    std::int64_t received_at_counts = 0;
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
    void add(const decode::ProbeTimes& times) { cost.add(times); }
    void add(const decode::CounterReading& reading) { tracks.add(reading); }
    void add(const decode::HeaderLine&) {}
    void add(const decode::FieldsLine&) {}
    void add(const decode::Unrecognised&) {}

    void plan(const decode::Schema& schema);
    Plan& plan_for(const decode::Schema& schema);
    void add(const decode::Record& record);
    void add_stages(Plan& plan, const decode::Record& record);
    void add_to_breakdown(Plan& plan, const decode::Record& record, std::int64_t total_ns);
    void add_slow(const decode::Record& record);
    void settle(std::optional<std::int64_t> epoch_ns);
    Block* block_of_interval(std::optional<std::int64_t> end_epoch_ns);
    Breakdown& breakdown_of(Plan& plan, std::string_view direction);
    [[nodiscard]] SlowRecord slow_record(const Plan& plan, const decode::Record& record, std::int64_t total_ns) const;
    void counted(std::optional<std::int64_t> epoch_ns, std::span<const decode::Count> counts);
    void close_interval(std::optional<std::int64_t> epoch_ns);
    [[nodiscard]] Accounting accounting() const;
    void put_measures(const Groups& groups, Summary& summary) const;
    [[nodiscard]] bool counts_drops() const;
    [[nodiscard]] std::string counted() const;
};

void Analyzer::State::plan(const decode::Schema& schema) {
    plans.push_back(plan_of(schema, options.group_by, measures));
    if (!series) {
        series.emplace(std::ranges::count(measures, true, &MeasureName::is_stage),
                       std::ranges::count(measures, false, &MeasureName::is_stage));
    }
}

Plan& Analyzer::State::plan_for(const decode::Schema& schema) {
    while (plans.size() <= schema.index)
        plan(header->schemas[plans.size()]);
    return plans[schema.index];
}

void Analyzer::State::add(const decode::Record& record) {
    Plan& plan = plan_for(*record.schema);
    const std::int64_t count = plan.count ? record.values[*plan.count].number : 1;
    if (plan.is_main) received = base::saturating_add(received, count);
    ++records_in_interval;
    if (plan.time) {
        const auto time = record.values[*plan.time].number;
        last_record_ns = std::max(last_record_ns.value_or(time), time);
    }
    if (plan.is_drop()) {
        const auto* reason = plan.reason ? &record.values[*plan.reason] : nullptr;
        const auto type = plan.reason ? record.schema->fields[*plan.reason].type : decode::FieldType::reason;
        drops.add(record.values[*plan.place].raw, reason, type, count);
    } else if (plan.is_count()) {
        tallies.add(record, plan.group_keys, count);
    }
    if (plan.is_call) calls.add(record);
    if (!plan.slots.empty()) add_stages(plan, record);
}

void Analyzer::State::add_stages(Plan& plan, const decode::Record& record) {
    auto& part = (current ? *current : total).part_of(record, plan.group_keys);
    Block* block = plan.time ? &series->at(record.values[*plan.time].number) : nullptr;
    stage_values.assign(plan.parts.size(), -1);
    std::int64_t sum = 0;
    bool any = false;
    for (const auto& slot : plan.slots) {
        const auto& value = record.values[slot.field];
        if (!value.seen) continue;
        part.add(slot.measure, value.number);
        if (auto* histogram = block != nullptr ? slot.in(*block) : nullptr) histogram->add(value.number);
        if (!slot.part) continue;
        stage_values[*slot.part] = value.number;
        sum = base::saturating_add(sum, value.number);
        any = true;
    }
    if (plan.is_call) return;  // one is a part of another: they do not add up
    if (plan.total && record.values[*plan.total].seen) {
        add_to_breakdown(plan, record, record.values[*plan.total].number);
    } else if (any) {
        add_to_breakdown(plan, record, sum);
    }
}

Breakdown& Analyzer::State::breakdown_of(Plan& plan, std::string_view direction) {
    for (const auto known : plan.breakdowns) {
        if (breakdowns[known].direction() == direction) return breakdowns[known];
    }
    const auto found = std::ranges::find_if(breakdowns, [&](const Breakdown& known) {
        return known.direction() == direction && known.stages() == plan.parts;
    });
    plan.breakdowns.push_back(static_cast<std::size_t>(found - breakdowns.begin()));
    if (found != breakdowns.end()) return *found;
    return breakdowns.emplace_back(std::string(direction), plan.parts, options.slowest);
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

void Analyzer::State::add_to_breakdown(Plan& plan, const decode::Record& record, std::int64_t total_ns) {
    auto& breakdown = breakdown_of(plan, direction_of(plan, record));
    if (breakdown.add(total_ns, stage_values)) breakdown.keep(slow_record(plan, record, total_ns));
}

void Analyzer::State::add_slow(const decode::Record& record) {
    Plan& plan = plan_for(*record.schema);
    stage_values.assign(plan.parts.size(), -1);
    std::int64_t total_ns = 0;
    for (const auto& slot : plan.slots) {
        const auto& value = record.values[slot.field];
        if (!slot.part || !value.seen) continue;
        stage_values[*slot.part] = value.number;
        total_ns = base::saturating_add(total_ns, value.number);
    }
    if (plan.total && record.values[*plan.total].seen) total_ns = record.values[*plan.total].number;
    auto& breakdown = breakdown_of(plan, direction_of(plan, record));
    if (!breakdown.is_slow(total_ns)) return;
    // The kernel may print it at two ticks.
    if (auto slow = slow_record(plan, record, total_ns); !breakdown.keeps(slow)) breakdown.keep(std::move(slow));
}

/// Where the values of an interval go, whose times are not known one by one: the block of its start. Where intervals
/// are longer than blocks, these are made longer; one that came late is no reason.
Block* Analyzer::State::block_of_interval(std::optional<std::int64_t> end_epoch_ns) {
    const auto start_epoch_ns = interval_start ? interval_start : end_epoch_ns;
    if (!start_epoch_ns) return nullptr;
    const auto length = base::saturating_subtract(end_epoch_ns.value_or(*start_epoch_ns), *start_epoch_ns);
    const auto usual = std::min(length, std::exchange(last_length_ns, length));
    while (usual > series->block_ns() + series->block_ns() / 8 && series->block_ns() < max_block_ns)
        series->coarsen(series->block_ns() * 2);
    if (!ready) return &series->at(*start_epoch_ns);
    const auto since = base::saturating_subtract(*start_epoch_ns, ready->epoch_ns);
    return &series->at(base::saturating_add(ready->monotonic_ns, since));
}

/// What was aggregated since the last tick becomes a part of the whole.
void Analyzer::State::settle(std::optional<std::int64_t> epoch_ns) {
    if (aggregates.empty()) return;
    const auto interval = aggregates.take();
    auto& part = (current ? *current : total).ungrouped();
    Block* block = block_of_interval(epoch_ns);
    for (const auto& [schema, field, histogram] : interval.values) {
        const auto& plan = plan_for(*schema);
        const auto slot = std::ranges::find(plan.slots, field, &Plan::Slot::field);
        part.add(slot->measure, histogram);
        if (auto* of_block = block != nullptr ? slot->in(*block) : nullptr) *of_block += histogram;
    }
    std::int64_t records = 0;
    for (const auto& [schema, direction, index, n, sums_ns] : interval.splits) {
        breakdown_of(plan_for(*schema), direction).add(bins::middle<bins::split_per_doubling>(index), n, sums_ns);
        records = base::saturating_add(records, n);
    }
    records = std::max<std::int64_t>(0, base::saturating_subtract(records, interval.partial));
    aggregated = base::saturating_add(aggregated, records);
    received = base::saturating_add(received, records);
    records_in_interval = base::saturating_add(records_in_interval, std::max<std::int64_t>(records, 1));
}

Accounting Analyzer::State::accounting() const {
    Accounting result = script;
    const bool is_final = closed && script_counts;
    const auto later = std::max<std::int64_t>(0, base::saturating_subtract(received, received_at_counts));
    if (!is_final) base::add_saturating(result.seen, later);
    result.reported = received;
    result.closed = closed;
    const auto missing = base::saturating_subtract(script.reported, is_final ? received : received_at_counts);
    if (missing > 0) add_cause(result.lost, "transport", missing);
    return result;
}

bool Analyzer::State::counts_drops() const {
    return std::ranges::any_of(plans, &Plan::is_drop);
}

std::string Analyzer::State::counted() const {
    const auto counting = std::ranges::find_if(plans, &Plan::is_count);
    if (counting == plans.end()) return {};
    return header->schemas[static_cast<std::size_t>(counting - plans.begin())].fields[*counting->count].name;
}

void Analyzer::State::put_measures(const Groups& groups, Summary& summary) const {
    const auto put = [&](const Groups::Part& part) {
        for (std::size_t i = 0; i < measures.size(); ++i) {
            auto& rows = measures[i].is_stage ? summary.stages : summary.values;
            rows.push_back({measures[i].name, part.group, i < part.measures.size() ? part.measures[i] : Histogram()});
            if (measures[i].is_stage) rows.back().stats.set_resolution(options.resolution_ns);
        }
    };
    put(groups.whole());
    for (const auto* part : groups.in_order())
        put(*part);
}

void Analyzer::State::close_interval(std::optional<std::int64_t> epoch_ns) {
    const Interval interval{interval_start, epoch_ns};
    if (current) {
        Summary summary;
        summary.recipe = header->recipe;
        put_measures(*current, summary);
        summary.counts_drops = counts_drops();
        const auto of_this = [&](auto rows) {
            for (auto& row : rows) {
                row.interval = 0;
                row.end_epoch_ns = epoch_ns;
            }
            return rows;
        };
        summary.drops = of_this(drops.items().open_rows());
        summary.counted = counted();
        summary.tallies = of_this(tallies.items().open_rows());
        summary.intervals = {interval};
        summary.accounting = difference(accounting(), before);
        summary.accounting.closed = true;
        summary.aggregated = aggregated - aggregated_before;
        summary.start_epoch_ns = interval_start;
        summary.end_epoch_ns = epoch_ns;
        closed_interval = std::move(summary);
        total += *current;
        current.emplace(options.max_groups);
    }
    log.close(interval);
    before = accounting();
    aggregated_before = aggregated;
    interval_start = epoch_ns;
    records_in_interval = 0;
}

void Analyzer::State::counted(std::optional<std::int64_t> epoch_ns, std::span<const decode::Count> counts) {
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
    const auto& schema = header.schemas.front();
    std::vector<std::string> names;
    for (const auto& field : schema.fields)
        names.push_back(field.name);
    if (!schema.find("port") && group_key(schema, "port")) names.emplace_back("port");
    for (const auto& name : options.group_by) {
        if (group_key(schema, name)) continue;
        const auto near = base::did_you_mean(name, names);
        return base::bad_input(
            fmt::format("the records of {} have no field '{}' to group by", base::printable(header.recipe),
                        base::printable(name)),
            near ? fmt::format("did you mean '{}'?", *near) : fmt::format("they have {}", fmt::join(names, ", ")));
    }
    auto state = std::make_unique<State>(header, std::move(options));
    for (const auto& known : header.schemas)
        state->plan(known);
    return Analyzer(std::move(state));
}

void Analyzer::State::add(const decode::Tick& tick) {
    const auto epoch_ns = known_time(tick.epoch_ns);
    settle(epoch_ns);
    counted(epoch_ns, tick.counts);
    close_interval(epoch_ns);
}

void Analyzer::State::add(const decode::End& end) {
    const auto epoch_ns = known_time(end.epoch_ns);
    closed = true;
    settle(epoch_ns);
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

Summary Analyzer::summary() const {
    const State& state = *state_;
    Summary summary;
    summary.recipe = state.header->recipe;
    if (state.current) {
        Groups all(state.options.max_groups);
        all += state.total;
        all += *state.current;
        state.put_measures(all, summary);
    } else {
        state.put_measures(state.total, summary);
    }
    summary.resolution_ns = state.options.resolution_ns;
    summary.counts_drops = state.counts_drops();
    summary.drops = state.drops.items().rows();
    std::ranges::move(state.drops.notes(), std::back_inserter(summary.notes));
    summary.counted = state.counted();
    summary.tallies = state.tallies.items().rows();
    summary.tracks = state.tracks;
    summary.intervals = state.log.intervals();
    if (state.records_in_interval > 0) {
        std::ranges::move(state.drops.items().open_rows(), std::back_inserter(summary.drops));
        std::ranges::move(state.tallies.items().open_rows(), std::back_inserter(summary.tallies));
        summary.intervals.push_back({state.interval_start, std::nullopt});
    }
    summary.calls = state.calls.rows();
    summary.calls_left_out = state.calls.left_out();
    summary.accounting = state.accounting();
    summary.cost = state.cost;
    summary.aggregated = state.aggregated;
    state.averages.put_into(summary);
    summary.breakdowns = state.breakdowns;
    if (state.series) summary.series = *state.series;
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
