#include "analyze/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "analyze/call_log.h"
#include "base/saturate.h"

namespace stapgen::analyze {

namespace {

void add_causes(std::vector<Cause>& into, const std::vector<Cause>& from) {
    for (const auto& cause : from)
        add_cause(into, cause.name, cause.count);
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
    std::ranges::stable_sort(groups, [](const OfGroup& a, const OfGroup& b) {
        return a.rank != b.rank ? a.rank < b.rank : a.size > b.size;
    });
    measures.clear();
    for (auto& group : groups)
        std::ranges::move(group.measures, std::back_inserter(measures));
}

void add_measures(std::vector<Measure>& into, const std::vector<Measure>& from) {
    for (const auto& measure : from) {
        const auto found = std::ranges::find_if(
            into, [&](const Measure& known) { return known.name == measure.name && known.group == measure.group; });
        if (found == into.end()) {
            into.push_back(measure);
        } else {
            found->stats += measure.stats;
        }
    }
    sort_groups(into);
}

void add_averages(std::vector<Average>& into, const std::vector<Average>& from) {
    for (const auto& average : from) {
        const auto found = std::ranges::find(into, average.name, &Average::name);
        if (found == into.end()) {
            into.push_back(average);
            continue;
        }
        const auto n = static_cast<double>(found->n), more = static_cast<double>(average.n);
        if (n + more == 0) continue;
        found->mean = (found->mean * n + average.mean * more) / (n + more);
        found->error = (found->error * n + average.error * more) / (n + more);
        base::add_saturating(found->n, average.n);
    }
}

void add_counters(std::vector<Counter>& into, const std::vector<Counter>& from) {
    for (const auto& counter : from) {
        const auto found = std::ranges::find(into, counter.name, &Counter::name);
        if (found == into.end()) {
            into.push_back(counter);
        } else if (counter.count) {
            found->count = base::saturating_add(found->count.value_or(0), *counter.count);
        }
    }
}

/// Their trees get the numbers behind ours.
void add_calls(Summary& into, const Summary& other) {
    const auto last = into.calls.empty() ? 0 : std::ranges::max(into.calls, {}, &Call::packet).packet;
    const auto kept =
        std::min(CallLog::max_calls - std::min(CallLog::max_calls, into.calls.size()), other.calls.size());
    for (auto call : std::span(other.calls).first(kept)) {
        call.packet = base::saturating_add(call.packet, last);
        into.calls.push_back(std::move(call));
    }
    base::add_saturating(into.calls_left_out, other.calls_left_out);
    base::add_saturating(into.calls_left_out, static_cast<std::int64_t>(other.calls.size() - kept));
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

void add_cause(std::vector<Cause>& causes, std::string_view name, std::int64_t count) {
    const auto found = std::ranges::find(causes, name, &Cause::name);
    if (found == causes.end()) {
        causes.push_back({std::string(name), count});
    } else {
        base::add_saturating(found->count, count);
    }
}

std::int64_t Accounting::incomplete_total() const {
    return sum_of(incomplete);
}

std::int64_t Accounting::lost_total() const {
    return sum_of(lost);
}

std::int64_t Accounting::unaccounted() const {
    const auto known = base::saturating_add(base::saturating_add(reported, filtered),
                                            base::saturating_add(incomplete_total(), lost_total()));
    return base::saturating_subtract(seen, known);
}

std::vector<Drop> total_drops(const Summary& summary) {
    auto rows = summary.drops;
    std::ranges::stable_sort(rows, [](const Drop& a, const Drop& b) { return key_of(a) < key_of(b); });
    std::vector<Drop> totals;
    for (auto& drop : rows) {
        if (!totals.empty() && key_of(totals.back()) == key_of(drop)) {
            base::add_saturating(totals.back().count, drop.count);
            continue;
        }
        drop.interval = 0;
        drop.end_epoch_ns.reset();
        totals.push_back(std::move(drop));
    }
    std::ranges::stable_sort(totals, std::greater{}, &Drop::count);
    return totals;
}

int rank_of(const Tally& tally) {
    if (tally.loss) return 3;
    if (tally.loss_by_name) return 2;
    return tally.meaning.empty() ? 0 : 1;
}

std::vector<Tally> total_tallies(const Summary& summary) {
    std::vector<Tally> totals;
    std::map<Group, std::size_t> places;
    for (const auto& tally : summary.tallies) {
        const auto [place, is_new] = places.emplace(tally.group, totals.size());
        if (is_new) {
            totals.push_back(tally);
            totals.back().interval = 0;
            totals.back().end_epoch_ns.reset();
        } else {
            base::add_saturating(totals[place->second].count, tally.count);
            totals[place->second].per_s.reset();
        }
    }
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

namespace {

std::int64_t recorded_ns(const Summary& summary) {
    if (summary.recordings > 1) return summary.recorded_ns;
    if (!summary.start_epoch_ns || !summary.end_epoch_ns) return 0;
    return std::max<std::int64_t>(0, base::saturating_subtract(*summary.end_epoch_ns, *summary.start_epoch_ns));
}

}  // namespace

base::Result<void> merge(Summary& into, const Summary& other) {
    if (into.recipe != other.recipe) {
        return base::bad_input(fmt::format("a recording of {} cannot be added to one of {}", other.recipe, into.recipe),
                               "give recordings of one recipe only");
    }
    add_measures(into.stages, other.stages);
    add_measures(into.values, other.values);
    for (const auto& breakdown : other.breakdowns) {
        const auto found = std::ranges::find_if(into.breakdowns, [&](const Breakdown& known) {
            return known.direction() == breakdown.direction() && known.stages() == breakdown.stages();
        });
        if (found == into.breakdowns.end()) {
            into.breakdowns.push_back(breakdown);
        } else {
            *found += breakdown;
        }
    }
    into.series.append(other.series);
    add_averages(into.averages, other.averages);
    into.average_intervals.insert(into.average_intervals.end(), other.average_intervals.begin(),
                                  other.average_intervals.end());
    into.resolution_ns = std::max(into.resolution_ns, other.resolution_ns);
    for (const auto& origin : other.origins) {
        if (std::ranges::find(into.origins, origin) == into.origins.end()) into.origins.push_back(origin);
    }
    for (const auto& note : other.notes) {
        if (std::ranges::find(into.notes, note) == into.notes.end()) into.notes.push_back(note);
    }

    const auto first_interval = static_cast<std::int64_t>(into.intervals.size());
    into.intervals.insert(into.intervals.end(), other.intervals.begin(), other.intervals.end());
    for (auto drop : other.drops) {
        drop.interval += first_interval;
        into.drops.push_back(std::move(drop));
    }

    if (into.counted.empty()) into.counted = other.counted;
    for (auto tally : other.tallies) {
        tally.interval += first_interval;
        into.tallies.push_back(std::move(tally));
    }

    into.mixed_units = into.mixed_units || other.mixed_units;
    into.tracks.append(other.tracks);

    add_calls(into, other);

    auto& accounting = into.accounting;
    base::add_saturating(accounting.seen, other.accounting.seen);
    base::add_saturating(accounting.reported, other.accounting.reported);
    base::add_saturating(accounting.filtered, other.accounting.filtered);
    add_causes(accounting.incomplete, other.accounting.incomplete);
    add_causes(accounting.lost, other.accounting.lost);
    add_causes(accounting.other, other.accounting.other);
    accounting.closed = accounting.closed && other.accounting.closed;

    base::add_saturating(into.aggregated, other.aggregated);
    add_counters(into.counters, other.counters);
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
