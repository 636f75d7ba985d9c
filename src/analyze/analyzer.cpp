#include "analyze/analyzer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/groups.h"
#include "analyze/saturate.h"
#include "base/text.h"

namespace stapgen::analyze {

namespace {

using decode::FieldType;

/// What to do with the fields of one kind of record.
struct Plan {
    struct Slot {
        std::size_t field = 0;
        std::size_t measure = 0;
    };
    std::vector<Slot> slots;
    std::vector<std::size_t> group_fields;
    std::optional<std::size_t> time, address, reason, count;
    bool is_main = false;

    [[nodiscard]] bool is_drop() const { return address && count; }
};

struct MeasureName {
    std::string name;
    bool is_stage = true;
};

/// The script's own counts, as the last tick or end line gave them.
struct ScriptCounts {
    bool told = false;  ///< it has said how many it has seen
    std::int64_t seen = 0, reported = 0, filtered = 0;
    std::vector<Cause> incomplete, lost, other;

    explicit ScriptCounts() = default;
    explicit ScriptCounts(std::span<const decode::Count> counts) {
        for (const auto& [key, value] : counts) {
            if (key == "seen") {
                told = true;
                seen = value;
            } else if (key == "reported") {
                reported = value;
            } else if (key == "filtered") {
                filtered = value;
            } else if (key == "incomplete" || key == "lost") {
                add_cause(key == "lost" ? lost : incomplete, "unspecified", value);
            } else if (key.starts_with("incomplete.")) {
                add_cause(incomplete, key.substr(key.find('.') + 1), value);
            } else if (key.starts_with("lost.")) {
                add_cause(lost, key.substr(key.find('.') + 1), value);
            } else {
                add_cause(other, key, value);
            }
        }
    }
};

std::vector<Cause> difference(std::vector<Cause> now, const std::vector<Cause>& before) {
    for (auto& cause : now) {
        const auto found = std::ranges::find(before, cause.name, &Cause::name);
        if (found != before.end()) cause.count = saturating_subtract(cause.count, found->count);
    }
    // What was there at the last tick and is no more has been taken back.
    for (const auto& cause : before) {
        if (std::ranges::find(now, cause.name, &Cause::name) == now.end()) now.push_back({cause.name, -cause.count});
    }
    return now;
}

/// The end line may come a moment after the last tick: too short to be an interval of its own.
constexpr std::int64_t shortest_interval_ns = 50'000'000;

}  // namespace

struct Analyzer::State {
    const decode::Header* header;
    AnalyzerOptions options;
    std::vector<Plan> plans;
    std::vector<MeasureName> measures;
    Groups current;  ///< since the last tick if intervals are kept, else unused
    Groups total;

    std::map<std::pair<std::uint64_t, std::int64_t>, std::int64_t> open_drops;
    std::vector<Drop> drops;
    std::vector<Interval> intervals;

    ScriptCounts script;
    std::int64_t received = 0;
    std::int64_t received_at_counts = 0;
    std::int64_t records_in_interval = 0;
    Accounting before;
    bool closed = false;

    std::optional<decode::Ready> ready;
    std::optional<std::int64_t> last_record_ns;
    std::optional<std::int64_t> last_epoch_ns;
    std::optional<std::int64_t> interval_start;
    std::optional<Summary> closed_interval;

    State(const decode::Header& of, AnalyzerOptions with)
        : header(&of), options(std::move(with)), current(options.max_groups), total(options.max_groups) {}

    void plan(const decode::Schema& schema);
    void add(const decode::Record& record);
    void counted(std::int64_t epoch_ns, std::span<const decode::Count> counts);
    void close_interval(std::int64_t epoch_ns);
    [[nodiscard]] Accounting accounting() const;
    [[nodiscard]] Accounting accounting_of_interval() const;
    [[nodiscard]] std::vector<Drop> drops_of_open_interval(std::optional<std::int64_t> end_epoch_ns) const;
    void put_measures(const Groups& groups, Summary& summary) const;
    [[nodiscard]] bool counts_drops() const;
};

void Analyzer::State::plan(const decode::Schema& schema) {
    Plan plan;
    plan.is_main = schema.index == 0;
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        const auto& [name, type] = schema.fields[i];
        if (type == FieldType::time && !plan.time) plan.time = i;
        if (type == FieldType::address && !plan.address) plan.address = i;
        if (type == FieldType::reason && !plan.reason) plan.reason = i;
        if (type == FieldType::count && !plan.count) plan.count = i;
        if (type != FieldType::stage && type != FieldType::value) continue;
        const auto known = std::ranges::find(measures, name, &MeasureName::name);
        plan.slots.push_back({i, static_cast<std::size_t>(known - measures.begin())});
        if (known == measures.end()) measures.push_back({name, type == FieldType::stage});
    }
    for (const auto& name : options.group_by) {
        if (const auto field = schema.find(name)) plan.group_fields.push_back(*field);
    }
    if (plan.group_fields.size() != options.group_by.size()) plan.group_fields.clear();
    plans.push_back(std::move(plan));
}

void Analyzer::State::add(const decode::Record& record) {
    while (plans.size() <= record.schema->index)
        plan(header->schemas[plans.size()]);
    const Plan& plan = plans[record.schema->index];
    const std::int64_t count = plan.count ? record.values[*plan.count].number : 1;
    if (plan.is_main) received = saturating_add(received, count);
    ++records_in_interval;
    if (plan.time) {
        const auto time = record.values[*plan.time].number;
        last_record_ns = std::max(last_record_ns.value_or(time), time);
    }
    if (plan.is_drop()) {
        auto& sum =
            open_drops[{record.values[*plan.address].address(), plan.reason ? record.values[*plan.reason].number : -1}];
        sum = saturating_add(sum, count);
    }
    if (plan.slots.empty()) return;
    Groups& groups = options.keep_intervals ? current : total;
    for (const auto& slot : plan.slots) {
        const auto& value = record.values[slot.field];
        if (value.seen) groups.whole().add(slot.measure, value.number);
    }
    if (plan.group_fields.empty()) return;
    auto& part = groups.part_of(record, plan.group_fields);
    for (const auto& slot : plan.slots) {
        const auto& value = record.values[slot.field];
        if (value.seen) part.add(slot.measure, value.number);
    }
}

Accounting Analyzer::State::accounting() const {
    Accounting result;
    const bool final_counts = closed && script.told;
    const auto later = std::max<std::int64_t>(0, saturating_subtract(received, received_at_counts));
    result.seen = final_counts ? script.seen : saturating_add(script.seen, later);
    result.reported = received;
    result.filtered = script.filtered;
    result.incomplete = script.incomplete;
    result.lost = script.lost;
    result.other = script.other;
    result.closed = closed;
    const auto missing = saturating_subtract(script.reported, final_counts ? received : received_at_counts);
    if (missing > 0) add_cause(result.lost, "transport", missing);
    return result;
}

Accounting Analyzer::State::accounting_of_interval() const {
    Accounting result = accounting();
    result.seen = saturating_subtract(result.seen, before.seen);
    result.reported = saturating_subtract(result.reported, before.reported);
    result.filtered = saturating_subtract(result.filtered, before.filtered);
    result.incomplete = difference(std::move(result.incomplete), before.incomplete);
    result.lost = difference(std::move(result.lost), before.lost);
    result.other = difference(std::move(result.other), before.other);
    result.closed = true;
    return result;
}

std::vector<Drop> Analyzer::State::drops_of_open_interval(std::optional<std::int64_t> end_epoch_ns) const {
    std::vector<Drop> rows;
    for (const auto& [key, count] : open_drops) {
        Drop drop;
        drop.interval = static_cast<std::int64_t>(intervals.size());
        drop.end_epoch_ns = end_epoch_ns;
        drop.address = key.first;
        drop.reason = key.second;
        drop.count = count;
        rows.push_back(std::move(drop));
    }
    std::ranges::stable_sort(rows, std::greater{}, &Drop::count);
    return rows;
}

bool Analyzer::State::counts_drops() const {
    return std::ranges::any_of(plans, &Plan::is_drop);
}

void Analyzer::State::put_measures(const Groups& groups, Summary& summary) const {
    static const Histogram none;
    for (const auto* part : groups.in_order()) {
        for (std::size_t i = 0; i < measures.size(); ++i) {
            auto& rows = measures[i].is_stage ? summary.stages : summary.values;
            rows.push_back({measures[i].name, part->group, i < part->measures.size() ? part->measures[i] : none});
        }
    }
}

void Analyzer::State::close_interval(std::int64_t epoch_ns) {
    auto rows = drops_of_open_interval(epoch_ns);
    intervals.push_back({interval_start, epoch_ns});
    if (options.keep_intervals) {
        Summary summary;
        summary.recipe = header->recipe;
        put_measures(current, summary);
        summary.counts_drops = counts_drops();
        summary.drops = rows;
        for (auto& drop : summary.drops)
            drop.interval = 0;
        summary.intervals = {intervals.back()};
        summary.accounting = accounting_of_interval();
        summary.start_epoch_ns = interval_start;
        summary.end_epoch_ns = epoch_ns;
        closed_interval = std::move(summary);
        total += current;
        current = Groups(options.max_groups);
    }
    std::ranges::move(rows, std::back_inserter(drops));
    open_drops.clear();
    before = accounting();
    interval_start = epoch_ns;
    records_in_interval = 0;
}

void Analyzer::State::counted(std::int64_t epoch_ns, std::span<const decode::Count> counts) {
    ScriptCounts told(counts);
    if (told.told) {
        script = std::move(told);
        received_at_counts = received;
    }
    last_epoch_ns = epoch_ns;
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
    for (const auto& name : options.group_by) {
        if (schema.find(name)) continue;
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

void Analyzer::add(const decode::Line& line) {
    if (const auto* record = std::get_if<decode::Record>(&line)) {
        add(*record);
    } else if (const auto* a_tick = std::get_if<decode::Tick>(&line)) {
        tick(*a_tick);
    } else if (const auto* an_end = std::get_if<decode::End>(&line)) {
        end(*an_end);
    } else if (const auto* a_ready = std::get_if<decode::Ready>(&line)) {
        ready(*a_ready);
    }
}

void Analyzer::add(const decode::Record& record) {
    state_->add(record);
}

void Analyzer::ready(const decode::Ready& ready) {
    state_->ready = ready;
    state_->interval_start = ready.epoch_ns;
}

void Analyzer::tick(const decode::Tick& tick) {
    state_->counted(tick.epoch_ns, tick.counts);
    state_->close_interval(tick.epoch_ns);
}

void Analyzer::end(const decode::End& end) {
    state_->closed = true;
    state_->counted(end.epoch_ns, end.counts);
    const auto length = saturating_subtract(end.epoch_ns, state_->interval_start.value_or(0));
    if (state_->records_in_interval > 0 || state_->intervals.empty() || length >= shortest_interval_ns) {
        state_->close_interval(end.epoch_ns);
    }
}

Summary Analyzer::summary() const {
    const State& state = *state_;
    Summary summary;
    summary.recipe = state.header->recipe;
    if (state.options.keep_intervals) {
        Groups all = state.total;
        all += state.current;
        state.put_measures(all, summary);
    } else {
        state.put_measures(state.total, summary);
    }
    summary.counts_drops = state.counts_drops();
    summary.drops = state.drops;
    summary.intervals = state.intervals;
    if (state.records_in_interval > 0) {
        std::ranges::copy(state.drops_of_open_interval(std::nullopt), std::back_inserter(summary.drops));
        summary.intervals.push_back({state.interval_start, std::nullopt});
    }
    summary.accounting = state.accounting();
    if (state.ready) {
        summary.start_epoch_ns = state.ready->epoch_ns;
        if (state.last_record_ns) {
            const auto since = saturating_subtract(*state.last_record_ns, state.ready->monotonic_ns);
            summary.end_epoch_ns = saturating_add(state.ready->epoch_ns, since);
        }
    }
    if (state.closed) summary.end_epoch_ns = state.last_epoch_ns;
    summary.end_epoch_ns = std::max(summary.end_epoch_ns, state.last_epoch_ns);
    return summary;
}

std::optional<Summary> Analyzer::take_interval() {
    return std::exchange(state_->closed_interval, std::nullopt);
}

}  // namespace stapgen::analyze
