// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/analyzer.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "analyze/kinds.h"
#include "base/limits.h"
#include "base/saturate.h"
#include "decode/group_keys.h"

namespace stapgen::analyze {

namespace {

using kinds::Accounting, kinds::Kind;

std::optional<std::int64_t> known_time(std::int64_t epoch_ns) {
    return epoch_ns == decode::unknown_time ? std::nullopt : std::optional(epoch_ns);
}

/// The end line may come a moment after the last tick: too short to be an interval of its own.
constexpr std::int64_t min_interval_ns = 50'000'000;

/// The counts of records of one schema, whatever kinds have a use for them.
struct Plan {
    std::optional<std::size_t> time, count;
    bool is_main = false;
    std::vector<Kind*> kinds;

    /// How often what a record is of happened.
    [[nodiscard]] std::int64_t count_of(const decode::Record& record) const {
        return count ? record.values[*count].number : 1;
    }
};

}  // namespace

/// The state of an Analyzer.
struct Analyzer::State {
    const decode::Header* header;
    bool keep_intervals;
    kinds::IntervalLog log;
    std::vector<std::unique_ptr<Kind>> kinds;
    std::vector<Plan> plans;  ///< by schema
    kinds::Clocks clocks;
    kinds::Cost cost;

    Accounting script;           ///< what it said last
    bool script_counts = false;  ///< it has said so
    std::int64_t received = 0;
    std::int64_t received_at_counts = 0;
    std::int64_t filtered = 0;                           ///< of those received
    std::int64_t aggregated = 0, aggregated_before = 0;  ///< now and at the last tick
    std::int64_t records_in_interval = 0;
    Accounting before;
    bool closed = false;

    std::optional<std::int64_t> last_record_ns;
    std::optional<std::int64_t> last_epoch_ns;
    std::optional<Measured> closed_interval;

    State(const decode::Header& of, const kinds::Settings& settings)
        : header(&of), keep_intervals(settings.keep_intervals), kinds(all_kinds(settings, log)) {}

    void add(const decode::Ready& at) {
        clocks.ready = at;
        clocks.interval_start = at.epoch_ns;
    }
    void add(const decode::Tick& tick);
    void add(const decode::End& end);
    void add(const decode::ProbeTimes& times) { cost.add(times); }
    void add(const decode::FieldsLine& line) { plan_of(*line.schema); }
    /// Headers, what is not recognised, and what only kinds know.
    template <class Other>
    void add(const Other& /*line*/) {}

    /// Further schemas are declared as the input goes on.
    Plan& plan_of(const decode::Schema& schema) {
        while (plans.size() <= schema.index)
            make_plan(header->schemas[plans.size()]);
        return plans[schema.index];
    }
    void make_plan(const decode::Schema& schema);
    void add(const decode::Record& record);
    void counted(std::optional<std::int64_t> epoch_ns, std::span<const decode::Count> counts);
    void close_interval(std::optional<std::int64_t> epoch_ns);
    [[nodiscard]] Accounting accounting() const;
};

void Analyzer::State::make_plan(const decode::Schema& schema) {
    using decode::FieldType;
    auto& plan = plans.emplace_back();
    plan.is_main = schema.index == 0;
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        if (schema.fields[i].type == FieldType::time && !plan.time) plan.time = i;
        if (schema.fields[i].type == FieldType::count && !plan.count) plan.count = i;
    }
    for (const auto& kind : kinds)
        if (kind->takes(schema)) plan.kinds.push_back(kind.get());
}

void Analyzer::State::add(const decode::Record& record) {
    Plan& plan = plan_of(*record.schema);
    if (plan.is_main) base::add_saturating(received, plan.count_of(record));
    ++records_in_interval;
    if (plan.time) {
        const auto time = record.values[*plan.time].number;
        last_record_ns = std::max(last_record_ns.value_or(time), time);
    }
    for (auto* kind : plan.kinds)
        kind->add(record);
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
    if (missing > 0) kinds::add_cause(result.lost, "transport", missing);
    return result;
}

void Analyzer::State::close_interval(std::optional<std::int64_t> epoch_ns) {
    const kinds::Interval interval{clocks.interval_start, epoch_ns};
    if (keep_intervals) {
        auto& measured = closed_interval.emplace();
        measured.recipe = header->recipe;
        measured.of<rows::Interval>().push_back({0, interval.start_epoch_ns, epoch_ns});
        for (const auto& kind : kinds)
            kind->put_interval(measured, epoch_ns);
        measured.accounting = difference(accounting(), before);
        measured.accounting.closed = true;
        measured.aggregated = aggregated - aggregated_before;
        measured.start_epoch_ns = interval.start_epoch_ns;
        measured.end_epoch_ns = epoch_ns;
    }
    for (const auto& kind : kinds)
        kind->close_interval();
    log.close(interval);
    before = accounting();
    aggregated_before = aggregated;
    clocks.interval_start = epoch_ns;
    records_in_interval = 0;
}

void Analyzer::State::counted(std::optional<std::int64_t> epoch_ns, std::span<const decode::Count> counts) {
    for (const auto& kind : kinds) {
        const auto records = kind->settle(clocks, epoch_ns);
        if (!records) continue;
        base::add_saturating(aggregated, *records);
        base::add_saturating(received, *records);
        base::add_saturating(records_in_interval, std::max<std::int64_t>(*records, 1));
    }
    if (auto said = kinds::script_counts(counts)) {
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

base::Result<Analyzer> Analyzer::create(const decode::Header& header, kinds::Settings settings) {
    STAPGEN_TRY(decode::check_group_keys(header, settings.group_by));
    const auto measures = std::ranges::count_if(header.schemas.front().fields, schema::has_statistics);
    settings.max_groups =
        std::min(settings.max_groups,
                 base::limits::group_histograms / std::max<std::size_t>(static_cast<std::size_t>(measures), 1));
    auto state = std::make_unique<State>(header, settings);
    for (const auto& known : header.schemas)
        state->plan_of(known);
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
    const auto length = epoch_ns ? base::saturating_subtract(*epoch_ns, clocks.interval_start.value_or(0)) : 0;
    if (records_in_interval > 0 || log.intervals().empty() || length >= min_interval_ns) close_interval(epoch_ns);
}

void Analyzer::add(const decode::Line& line) {
    if (const auto* record = std::get_if<decode::Record>(&line)) return state_->add(*record);
    std::visit([this](const auto& of_its_kind) { state_->add(of_its_kind); }, line);
    for (const auto& kind : state_->kinds)
        kind->add_line(line);
}

void Analyzer::add(const decode::Record& record) {
    state_->add(record);
}

void Analyzer::count_filtered(const decode::Record& record) {
    const Plan& plan = state_->plan_of(*record.schema);
    if (!plan.is_main) return;
    const auto count = plan.count_of(record);
    base::add_saturating(state_->received, count);
    base::add_saturating(state_->filtered, count);
}

Measured Analyzer::measured() const {
    const State& state = *state_;
    const auto& clocks = state.clocks;
    const bool is_open = state.records_in_interval > 0;
    Measured measured;
    measured.recipe = state.header->recipe;
    measured.cost = state.cost;
    measured.aggregated = state.aggregated;
    auto& intervals = measured.of<rows::Interval>();
    for (const auto& [start, end] : state.log.intervals())
        intervals.push_back({std::ssize(intervals), start, end});
    if (is_open) intervals.push_back({std::ssize(intervals), clocks.interval_start, {}});
    for (const auto& kind : state.kinds)
        kind->put_into(measured, clocks, is_open);
    measured.accounting = state.accounting();
    if (clocks.ready) {
        measured.start_epoch_ns = clocks.ready->epoch_ns;
        if (state.last_record_ns) {
            const auto since = base::saturating_subtract(*state.last_record_ns, clocks.ready->monotonic_ns);
            measured.end_epoch_ns = base::saturating_add(clocks.ready->epoch_ns, since);
        }
    }
    if (state.closed) measured.end_epoch_ns = state.last_epoch_ns;
    measured.end_epoch_ns = std::max(measured.end_epoch_ns, state.last_epoch_ns);
    return measured;
}

Accounting Analyzer::accounting() const {
    return state_->accounting();
}

std::optional<Measured> Analyzer::take_interval() {
    return std::exchange(state_->closed_interval, std::nullopt);
}

}  // namespace stapgen::analyze
