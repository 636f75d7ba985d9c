// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/latency/latency.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "base/limits.h"
#include "base/same_text.h"
#include "base/saturate.h"
#include "kinds/latency/aggregates.h"
#include "kinds/latency/averages.h"
#include "kinds/latency/grouped.h"
#include "kinds/latency/owners.h"
#include "kinds/latency/plan.h"

namespace stapgen::kinds::latency {

namespace {

using table::Block, table::Breakdown, table::Series, table::SlowRecord;

/// Blocks of time are not made longer than this, about a day.
constexpr std::int64_t max_block_ns = std::int64_t{1} << 46;

class Latency final : public Kind {
  public:
    explicit Latency(const Settings& settings) : settings_(settings), total_(settings.max_groups) {
        if (settings_.keep_intervals) current_.emplace(settings_.max_groups);
    }

    bool takes(const decode::Schema& schema) override;
    void add(const decode::Record& record) override;
    void add_line(const decode::Line& line) override {
        std::visit([this](const auto& of_its_kind) { add(of_its_kind); }, line);
    }
    std::optional<std::int64_t> settle(const Clocks& clocks, std::optional<std::int64_t> epoch_ns) override;
    void close_interval() override {
        if (!current_) return;
        total_ += *current_;
        current_.emplace(settings_.max_groups);
    }
    void put_into(Measured& measured, const Clocks& clocks, bool is_open) const override;
    void put_interval(Measured& measured, std::optional<std::int64_t> /*end_epoch_ns*/) const override {
        if (current_) put_groups(*current_, measured);
    }

  private:
    void add(const decode::BinsLine& line) { aggregates_.add(line); }
    void add(const decode::SumLine& line) { aggregates_.add(line); }
    void add(const decode::SplitLine& line) { aggregates_.add(line); }
    void add(const decode::SlowLine& line) { add_slow(line.record); }
    void add(const decode::RunningMeans& means) { averages_.add(means); }
    template <class Other>
    void add(const Other& /*line*/) {}

    Plan& plan_of(const decode::Schema& schema) { return plans_[schema.index]; }
    std::optional<std::int64_t> read_parts(const Plan& plan, const decode::Record& record, auto each);
    void add_slow(const decode::Record& record);
    [[nodiscard]] SlowRecord slow_record(const Plan& plan, const decode::Record& record, std::int64_t total_ns) const;
    Block* block_of_interval(const Clocks& clocks, std::optional<std::int64_t> end_epoch_ns);
    [[gnu::always_inline]] Breakdown& breakdown_of(Plan& plan, std::string_view direction) {
        for (const auto known : plan.breakdowns) {
            if (base::are_same(breakdowns_[known].direction(), direction)) return breakdowns_[known];
        }
        return make_breakdown(plan, direction);
    }
    /// Whether a breakdown has no room beside those that there are.
    [[nodiscard]] bool are_full(std::size_t more_stages) const {
        for (const auto& known : breakdowns_)
            more_stages += known.stages().size();
        return more_stages > base::limits::direction_stages;
    }
    Breakdown& make_breakdown(Plan& plan, std::string_view direction);
    void put_groups(const Groups& groups, Measured& measured) const;
    Breakdown& breakdown_of_group(const Group& group, const Breakdown& whole);

    Settings settings_;
    std::vector<Plan> plans_;  ///< by schema
    std::vector<MeasureName> measures_;
    std::optional<Groups> current_;  ///< since the last tick, if intervals are kept
    Groups total_;
    Owners owners_;
    std::map<Group, std::vector<Breakdown>> of_groups_;
    std::vector<Breakdown> breakdowns_;  ///< times of the slowest are of the kernel's clock, as those of the series
    Series series_;
    AggregateCollector aggregates_;
    Averages averages_;
    std::vector<std::int64_t> stage_values_;
    std::int64_t last_length_ns_ = 0;  ///< of the interval before
};

bool Latency::takes(const decode::Schema& schema) {
    const auto place = plans_.size();
    auto& plan = plans_.emplace_back(kinds::plan_of(schema, settings_.group_by, measures_));
    owners_.takes(schema);
    if (place == 0) {
        const auto values = static_cast<std::size_t>(std::ranges::count(plan.slots, false, &Plan::Slot::is_stage));
        const auto parts = static_cast<std::size_t>(std::ranges::count(plan.slots, true, &Plan::Slot::is_part));
        series_ = Series(measures_.size() - values - parts, values);
    }
    for (auto& slot : plan.slots)
        slot.in_series = !slot.is_part && slot.place < (slot.is_stage ? series_.stages() : series_.values());
    return !plan.slots.empty();
}

/// Calls for each stage and value that was seen. Puts what divides the total into stage_values_ and returns the total;
/// nothing where neither that nor a stage was seen.
std::optional<std::int64_t> Latency::read_parts(const Plan& plan, const decode::Record& record, auto each) {
    stage_values_.resize(plan.stages.size());
    const auto* const values = record.values.data();
    auto* stage_value = stage_values_.data();
    std::int64_t sum = 0;
    bool is_seen = false;
    for (const auto& slot : plan.slots) {
        const auto& value = values[slot.field];
        if (slot.divides_total) {
            *stage_value++ = value.seen ? value.number : -1;
            if (value.seen && !slot.is_part) sum = base::saturating_add(sum, value.number);
            is_seen |= value.seen;
        }
        if (value.seen) each(slot, value.number);
    }
    if (plan.total && values[*plan.total].seen) return values[*plan.total].number;
    return is_seen ? std::optional(sum) : std::nullopt;
}

void Latency::add(const decode::Record& record) {
    Plan& plan = plan_of(*record.schema);
    auto& part = (current_ ? *current_ : total_).part_of(record, plan.group_keys);
    part.hold(measures_.size());
    const auto time_ns = plan.time ? std::optional(record.values[*plan.time].number) : std::nullopt;
    Block* const block = time_ns && settings_.keep_series ? &series_.at(*time_ns) : nullptr;
    auto* const of_part = part.measures.data();
    auto* const of_block = block != nullptr ? block->stages.data() : nullptr;
    const auto add_value = [&](const Plan::Slot& slot, std::int64_t value) {
        of_part[slot.measure].add(value);
        if (block != nullptr && slot.in_series)
            (slot.is_stage ? of_block : block->values.data())[slot.place].add(value);
    };
    const auto total_ns = read_parts(plan, record, add_value);
    if (!total_ns || plan.is_call) return;  // of calls one is a part of another: they do not add up
    auto& breakdown = breakdown_of(plan, plan.direction_in(record));
    if (breakdown.add(*total_ns, stage_values_, time_ns)) breakdown.keep(slow_record(plan, record, *total_ns));
    if (settings_.explains) owners_.add(record, plan);
    if (settings_.explains_groups && !plan.group_keys.empty())
        breakdown_of_group(part.group, breakdown).add(*total_ns, stage_values_);
}

Breakdown& Latency::breakdown_of_group(const Group& group, const Breakdown& whole) {
    auto found = of_groups_.find(group);
    if (found == of_groups_.end()) {
        const bool fits = of_groups_.size() < settings_.max_groups;
        found = of_groups_.try_emplace(fits ? group : Group{{"other", true}}).first;
    }
    auto& known = found->second;
    const auto is_like = [&](const Breakdown& of) { return of.is_like(whole); };
    if (const auto of = std::ranges::find_if(known, is_like); of != known.end()) return *of;
    return known.emplace_back(whole.direction(), whole.stages(), 0);
}

Breakdown& Latency::make_breakdown(Plan& plan, std::string_view direction) {
    const auto find = [&] {
        return std::ranges::find_if(breakdowns_,
                                    [&](const Breakdown& known) { return known.is_of(direction, plan.stages); });
    };
    auto found = find();
    if (found == breakdowns_.end() && are_full(plan.stages.size())) {
        direction = "other";
        found = find();
    }
    const auto place = static_cast<std::size_t>(found - breakdowns_.begin());
    if (std::ranges::find(plan.breakdowns, place) == plan.breakdowns.end()) plan.breakdowns.push_back(place);
    if (found != breakdowns_.end()) return *found;
    return breakdowns_.emplace_back(std::string(direction), plan.stages, settings_.slowest);
}

SlowRecord Latency::slow_record(const Plan& plan, const decode::Record& record, std::int64_t total_ns) const {
    SlowRecord slow;
    slow.total_ns = total_ns;
    if (plan.time) slow.time_ns = record.values[*plan.time].number;
    for (const auto value : stage_values_)
        slow.stages.push_back(value < 0 ? std::nullopt : std::optional(value));
    for (std::size_t i = 0; i < record.schema->fields.size(); ++i) {
        const auto type = record.schema->fields[i].type;
        if (type == decode::FieldType::stage || type == decode::FieldType::time || i == plan.direction) continue;
        slow.of.push_back(decode::group_field(record, {i}));
    }
    return slow;
}

void Latency::add_slow(const decode::Record& record) {
    Plan& plan = plan_of(*record.schema);
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
Block* Latency::block_of_interval(const Clocks& clocks, std::optional<std::int64_t> end_epoch_ns) {
    const auto start_epoch_ns = clocks.interval_start ? clocks.interval_start : end_epoch_ns;
    if (!start_epoch_ns || !settings_.keep_series) return nullptr;
    const auto length = base::saturating_subtract(end_epoch_ns.value_or(*start_epoch_ns), *start_epoch_ns);
    const auto usual = std::min(length, std::exchange(last_length_ns_, length));
    while (usual > series_.block_ns() + series_.block_ns() / 8 && series_.block_ns() < max_block_ns)
        series_.coarsen(series_.block_ns() * 2);
    if (!clocks.ready) return &series_.at(*start_epoch_ns);
    const auto since = base::saturating_subtract(*start_epoch_ns, clocks.ready->epoch_ns);
    return &series_.at(base::saturating_add(clocks.ready->monotonic_ns, since));
}

std::optional<std::int64_t> Latency::settle(const Clocks& clocks, std::optional<std::int64_t> epoch_ns) {
    if (aggregates_.empty()) return std::nullopt;
    const auto interval = aggregates_.take();
    auto& part = (current_ ? *current_ : total_).ungrouped();
    Block* block = block_of_interval(clocks, epoch_ns);
    for (const auto& [schema, field, histogram, totals] : interval.values) {
        const auto& plan = plan_of(*schema);
        const auto slot = std::ranges::find(plan.slots, field, &Plan::Slot::field);
        part.hold(measures_.size());
        part.measures[slot->measure] += histogram;
        if (block != nullptr && slot->in_series)
            (slot->is_stage ? block->stages : block->values)[slot->place] += histogram;
    }
    std::int64_t records = 0;
    for (const auto& [schema, direction, index, n, sums_ns] : interval.splits) {
        breakdown_of(plan_of(*schema), direction)
            .add(schema::bins::middle<schema::bins::split_per_doubling>(index), n, sums_ns);
        base::add_saturating(records, n);
    }
    return std::max<std::int64_t>(0, base::saturating_subtract(records, interval.partial));
}

void Latency::put_groups(const Groups& groups, Measured& measured) const {
    auto& stages = measured.of<rows::Stage>();
    auto& values = measured.of<rows::Value>();
    const auto put = [&](const Groups::Part& part) {
        for (std::size_t i = 0; i < measures_.size(); ++i) {
            auto histogram = i < part.measures.size() ? part.measures[i] : table::Histogram();
            if (measures_[i].is_stage) {
                histogram.set_resolution(settings_.resolution_ns);
                stages.push_back({measures_[i].name, part.group, std::move(histogram)});
            } else {
                values.push_back({measures_[i].name, part.group, std::move(histogram)});
            }
        }
    };
    put(groups.whole());
    for (const auto* part : groups.in_order())
        put(*part);
}

void Latency::put_into(Measured& measured, const Clocks& clocks, bool /*is_open*/) const {
    if (current_) {
        Groups all(settings_.max_groups);
        all += total_;
        all += *current_;
        put_groups(all, measured);
    } else {
        put_groups(total_, measured);
    }
    averages_.put_into(measured);
    if (measures_.empty()) return;
    measured.one<rows::Precision>().resolution_ns = settings_.resolution_ns;
    auto& breakdowns = measured.of<rows::Breakdown>();
    auto sorted = breakdowns_;
    table::sort_breakdowns(sorted);
    for (auto& breakdown : sorted) {
        breakdown.shift(clocks.shift());
        breakdowns.push_back({breakdown.direction(), breakdown.stages(), std::move(breakdown)});
    }
    measured.put(owners_.times(measures_));
    for (const auto& [group, of_group] : of_groups_)
        for (const auto& breakdown : of_group)
            measured.of<rows::GroupBreakdown>().push_back(
                {breakdown.direction(), group, breakdown.stages(), breakdown});
    auto series = series_;
    series.settle();
    series.shift(clocks.shift());
    measured.of<rows::Series>().push_back({std::move(series)});
}

}  // namespace

namespace {

template <class Row>
Measures rows_of_whole(const std::vector<Row>& rows, std::string Row::*name, bool are_parts) {
    Measures whole;
    for (const auto& row : rows) {
        if (row.group.empty() && schema::is_part(row.*name) == are_parts)
            whole.emplace_back(row.*name, &*row.distribution);
    }
    return whole;
}

}  // namespace

Measures whole_of(const std::vector<rows::Stage>& stages) {
    return rows_of_whole(stages, &rows::Stage::stage, false);
}

Measures whole_of(const std::vector<rows::Value>& values) {
    return rows_of_whole(values, &rows::Value::value, false);
}

Measures parts_of(const std::vector<rows::Stage>& stages) {
    return rows_of_whole(stages, &rows::Stage::stage, true);
}

const table::Histogram* stage_of(const Measured& measured, std::string_view name) {
    const auto whole = whole_of(measured.of<rows::Stage>());
    const auto found = std::ranges::find(whole, name, &Measures::value_type::first);
    return found == whole.end() ? nullptr : found->second;
}

std::string total_name(const Breakdown& breakdown) {
    return breakdown.direction().empty() ? "total" : breakdown.direction() + " total";
}

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& /*log*/) {
    return std::make_unique<Latency>(settings);
}

}  // namespace stapgen::kinds::latency
