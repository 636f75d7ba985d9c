#include "analyze/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <utility>

namespace stapgen::analyze {

namespace {

/// The rows of `from` are added to those of `into` that are the same, else appended.
template <class Row, class IsSame, class Add>
void add_rows(std::vector<Row>& into, const std::vector<Row>& from, IsSame is_same, Add add) {
    for (const auto& row : from) {
        const auto found =
            std::ranges::find_if(into, [&](const Row& known) { return std::invoke(is_same, known, row); });
        if (found == into.end()) {
            into.push_back(row);
        } else {
            add(*found, row);
        }
    }
}

constexpr auto is_equal = [](const auto& a, const auto& b) { return a == b; };
constexpr auto has_same_name = [](const auto& a, const auto& b) { return a.name == b.name; };
constexpr auto keep_known = [](const auto& /*known*/, const auto& /*row*/) {};

/// The rows of later intervals.
template <class Row>
void append_rows(std::vector<Row>& into, const std::vector<Row>& from, std::size_t first_interval) {
    for (auto row : from) {
        row.interval += static_cast<std::int64_t>(first_interval);
        into.push_back(std::move(row));
    }
}

/// The whole first, then the groups, the largest first, then "other": as they come from an Analyzer. The measures of a
/// group stand together.
void sort_groups(std::vector<Measure>& measures) {
    struct OfGroup {
        int rank = 0;
        std::int64_t size = 0;
        std::vector<Measure> measures;
    };
    std::vector<OfGroup> groups;
    for (auto& measure : measures) {
        if (groups.empty() || groups.back().measures.front().group != measure.group) {
            const bool is_other = !measure.group.empty() && measure.group.back().key == "other";
            groups.push_back({measure.group.empty() ? 0 : is_other ? 2 : 1, 0, {}});
        }
        groups.back().size = std::max(groups.back().size, measure.stats.n());
        groups.back().measures.push_back(std::move(measure));
    }
    std::ranges::stable_sort(groups, {}, [](const OfGroup& group) { return std::pair(group.rank, -group.size); });
    measures.clear();
    for (auto& group : groups)
        std::ranges::move(group.measures, std::back_inserter(measures));
}

void add_measures(std::vector<Measure>& into, const std::vector<Measure>& from) {
    add_rows(
        into, from, [](const Measure& a, const Measure& b) { return a.name == b.name && a.group == b.group; },
        [](Measure& known, const Measure& measure) { known.stats += measure.stats; });
    sort_groups(into);
}

void add_average(Average& known, const Average& average) {
    const auto n = static_cast<double>(known.n), more = static_cast<double>(average.n);
    if (n + more == 0) return;
    known.mean = (known.mean * n + average.mean * more) / (n + more);
    known.error = (known.error * n + average.error * more) / (n + more);
    base::add_saturating(known.n, average.n);
}

void add_counter(Counter& known, const Counter& counter) {
    if (counter.count) known.count = base::saturating_add(known.count.value_or(0), *counter.count);
}

std::int64_t recorded_ns(const Summary& summary) {
    if (summary.recordings > 1) return summary.recorded_ns;
    if (!summary.start_epoch_ns || !summary.end_epoch_ns) return 0;
    return std::max<std::int64_t>(0, base::saturating_subtract(*summary.end_epoch_ns, *summary.start_epoch_ns));
}

/// Their trees get the numbers behind ours.
void add_calls(Summary& into, const Summary& other) {
    const auto last = into.calls.empty() ? 0 : std::ranges::max(into.calls, {}, &Call::packet).packet;
    const auto kept = std::min(Call::max_kept - std::min(Call::max_kept, into.calls.size()), other.calls.size());
    for (auto call : std::span(other.calls).first(kept)) {
        call.packet = base::saturating_add(call.packet, last);
        into.calls.push_back(std::move(call));
    }
    base::add_saturating(into.calls_left_out, other.calls_left_out);
    base::add_saturating(into.calls_left_out, static_cast<std::int64_t>(other.calls.size() - kept));
}

using decode::Attribute;
using decode::FieldType;

/// Deeper calls stand as deep as this: an indentation is all that it is used for.
constexpr std::int64_t max_depth = 255;

std::string text_of(const decode::Value& value) {
    return decode::unescape(value.raw.substr(0, Call::max_text_length));
}

std::int64_t number_of(const decode::Record& record, std::string_view name) {
    const auto field = record.schema->find(name);
    return field && record.schema->fields[*field].type == FieldType::integer ? record.values[*field].number : 0;
}

std::string text_of(const decode::Record& record, std::string_view name) {
    const auto field = record.schema->find(name);
    return field && record.schema->fields[*field].type == FieldType::text ? text_of(record.values[*field]) : "";
}

/// What ran it: a thread, or a CPU in softirq.
using Context = std::tuple<std::int64_t, bool, std::int64_t>;

Context context_of(const Call& call) {
    return {call.packet, call.in_thread, call.in_thread ? call.tid : call.cpu};
}

/// Rows of one key are added up, in the order in which the keys came up.
template <class Row, class KeyOf>
std::vector<Row> totals_of(const std::vector<Row>& rows, const KeyOf& key_of_row) {
    std::vector<Row> totals;
    std::map<decltype(key_of_row(rows.front())), std::size_t> places;
    for (const auto& row : rows) {
        const auto [place, is_new] = places.emplace(key_of_row(row), totals.size());
        if (is_new) {
            totals.push_back(row);
            totals.back().interval = 0;
            totals.back().end_epoch_ns.reset();
        } else {
            base::add_saturating(totals[place->second].count, row.count);
            if constexpr (requires { row.per_s; }) totals[place->second].per_s.reset();
        }
    }
    return totals;
}

}  // namespace

void add_up(Transport& into, const Transport& more) {
    base::add_saturating(into.skipped_probes, more.skipped_probes);
    base::add_saturating(into.probe_errors, more.probe_errors);
    base::add_saturating(into.transport_failures, more.transport_failures);
    into.enough_buffer_mb = std::max(into.enough_buffer_mb, more.enough_buffer_mb);
    for (const auto& [function, count] : more.skipped_by)
        add_cause(into.skipped_by, function, count);
}

std::vector<Drop> total_drops(const Summary& summary) {
    auto totals = totals_of(summary.drops, [](const Drop& drop) { return key_of(drop); });
    std::ranges::sort(totals, [](const Drop& a, const Drop& b) {
        return a.count != b.count ? a.count > b.count : key_of(a) < key_of(b);
    });
    return totals;
}

int rank_of(const Tally& tally) {
    if (tally.loss) return 3;
    if (tally.loss_by_name) return 2;
    return tally.meaning.empty() ? 0 : 1;
}

std::vector<Tally> total_tallies(const Summary& summary) {
    auto totals = totals_of(summary.tallies, [](const Tally& tally) { return std::tie(tally.group); });
    std::ranges::stable_sort(totals, std::greater{},
                             [](const Tally& tally) { return std::pair(rank_of(tally), tally.count); });
    return totals;
}

bool is_whole(const Summary& summary) {
    const auto& accounting = summary.accounting;
    const auto& transport = summary.transport;
    return summary.broke_off.empty() && accounting.closed && accounting.lost_total() == 0 &&
           accounting.unaccounted() == 0 && transport.skipped_probes == 0 && transport.probe_errors == 0 &&
           transport.transport_failures == 0;
}

void add_call(Summary& summary, const decode::Record& record) {
    const auto depth = record.schema->find(Attribute::depth);
    if (!depth) return;
    if (summary.calls.size() >= Call::max_kept) {
        ++summary.calls_left_out;
        return;
    }
    Call call;
    call.packet = number_of(record, "packet");
    call.depth = std::clamp<std::int64_t>(record.values[*depth].number, 0, max_depth);
    call.cpu = number_of(record, "cpu");
    call.tid = number_of(record, "tid");
    call.comm = text_of(record, "comm");
    call.args = text_of(record, "args");
    std::int64_t end_ns = 0;
    for (std::size_t i = 0; i < record.schema->fields.size(); ++i) {
        const auto& [name, type, attribute] = record.schema->fields[i];
        const auto& value = record.values[i];
        if (type == FieldType::time) end_ns = value.number;
        if (type == FieldType::text && attribute == Attribute::key && call.function.empty()) {
            call.function = text_of(value);
        }
        if (type != FieldType::stage || !value.seen) continue;
        call.duration_ns = base::saturating_add(call.duration_ns, value.number);
        call.in_thread = call.in_thread || attribute == Attribute::thread;
    }
    call.begin_ns = base::saturating_subtract(end_ns, call.duration_ns);
    summary.calls.push_back(std::move(call));
}

void sort_calls(std::vector<Call>& calls) {
    std::map<Context, std::int64_t> begins;
    for (const auto& call : calls) {
        const auto [begin, is_new] = begins.emplace(context_of(call), call.begin_ns);
        if (!is_new) begin->second = std::min(begin->second, call.begin_ns);
    }
    std::ranges::stable_sort(calls, {}, [&](const Call& call) {
        const auto context = context_of(call);
        return std::tuple(call.packet, begins.at(context), context, call.begin_ns, call.depth);
    });
}

base::Result<void> merge(Summary& into, const Summary& other) {
    if (into.recipe != other.recipe) {
        return base::bad_input(fmt::format("a recording of {} cannot be added to one of {}", other.recipe, into.recipe),
                               "give recordings of one recipe only");
    }
    add_measures(into.stages, other.stages);
    add_measures(into.values, other.values);
    add_rows(into.breakdowns, other.breakdowns, &Breakdown::is_like,
             [](Breakdown& known, const Breakdown& breakdown) { known += breakdown; });
    into.series.append(other.series);
    add_rows(into.averages, other.averages, has_same_name, add_average);
    into.average_intervals.insert(into.average_intervals.end(), other.average_intervals.begin(),
                                  other.average_intervals.end());
    into.resolution_ns = std::max(into.resolution_ns, other.resolution_ns);
    add_rows(into.origins, other.origins, is_equal, keep_known);
    add_rows(into.notes, other.notes, is_equal, keep_known);
    append_rows(into.drops, other.drops, into.intervals.size());
    append_rows(into.tallies, other.tallies, into.intervals.size());
    into.intervals.insert(into.intervals.end(), other.intervals.begin(), other.intervals.end());
    if (into.counted.empty()) into.counted = other.counted;
    into.mixed_units = into.mixed_units || other.mixed_units;
    into.tracks.append(other.tracks);
    add_calls(into, other);
    into.accounting += other.accounting;
    base::add_saturating(into.aggregated, other.aggregated);
    add_rows(into.counters, other.counters, has_same_name, add_counter);
    into.input.lines += other.input.lines;
    into.input.recognised += other.input.recognised;
    into.input.unrecognised += other.input.unrecognised;
    add_up(into.transport, other.transport);
    into.cost += other.cost;
    into.sample += other.sample;
    if (into.broke_off.empty()) into.broke_off = other.broke_off;
    if (into.clock_set_ns == 0) into.clock_set_ns = other.clock_set_ns;
    base::add_saturating(into.suspended_ns, other.suspended_ns);

    into.recorded_ns = base::saturating_add(recorded_ns(into), recorded_ns(other));
    base::add_saturating(into.recordings, other.recordings);
    const auto earlier = [](auto a, auto b) { return a && b ? std::min(a, b) : a ? a : b; };
    into.start_epoch_ns = earlier(into.start_epoch_ns, other.start_epoch_ns);
    into.end_epoch_ns = std::max(into.end_epoch_ns, other.end_epoch_ns);
    return {};
}

}  // namespace stapgen::analyze
