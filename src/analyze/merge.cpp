// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <type_traits>

#include "base/saturate.h"
#include "base/text.h"

namespace stapgen::analyze {

namespace {

/// The rows of `from` are added to those of `into` of the same key, else appended.
template <class Row, class KeyOf, class Add>
void add_rows(std::vector<Row>& into, const std::vector<Row>& from, KeyOf key_of_row, Add add) {
    into.reserve(into.size() + from.size());  // keys refer to rows
    std::map<std::invoke_result_t<KeyOf, const Row&>, std::size_t> known;
    for (std::size_t i = 0; i < into.size(); ++i)
        known.emplace(key_of_row(into[i]), i);
    for (const auto& row : from) {
        if (const auto found = known.find(key_of_row(row)); found != known.end()) {
            add(into[found->second], row);
        } else {
            into.push_back(row);
            known.emplace(key_of_row(into.back()), into.size() - 1);
        }
    }
}

constexpr auto keep_known = [](const auto& /*known*/, const auto& /*row*/) {};
constexpr auto by_name = [](const auto& row) { return std::tie(row.name); };

/// Behind those that are there. `intervals`: the number of intervals that these are of.
template <class Row>
void append(std::vector<Row>& into, std::vector<Row>& more, std::int64_t intervals) {
    for (auto& row : more) {
        row.interval = base::saturating_add(row.interval, intervals);
        into.push_back(std::move(row));
    }
}

void append_calls(Summary& into, Summary& added) {
    const auto packets = into.calls.empty() ? 0 : std::ranges::max(into.calls, {}, &Call::packet).packet;
    const auto room = Call::max_kept - std::min(Call::max_kept, into.calls.size());
    base::add_saturating(into.calls_left_out, added.calls_left_out);
    if (added.calls.size() > room) {
        base::add_saturating(into.calls_left_out, static_cast<std::int64_t>(added.calls.size() - room));
        added.calls.resize(room);
    }
    for (auto& call : added.calls) {
        base::add_saturating(call.packet, packets);
        into.calls.push_back(std::move(call));
    }
}

/// What is not added up stands by recording.
void append_rows(Summary& into, Summary& added) {
    const auto intervals = std::ssize(into.intervals);
    std::ranges::move(added.intervals, std::back_inserter(into.intervals));
    std::ranges::move(added.average_intervals, std::back_inserter(into.average_intervals));
    append(into.drops, added.drops, intervals);
    append(into.tallies, added.tallies, intervals);
    append(into.stacks, added.stacks, intervals);
    append_calls(into, added);
}

/// Where a function's address and a reason's number are not the same everywhere: its name and that of the reason
/// remain.
void drop_places_of_one_kernel(Summary& summary) {
    for_each_place(summary, [](auto& place) { keep_name_only(place); });
    const auto add_up = []<class Row>(std::vector<Row>& all) {
        std::vector<Row> rows;
        const auto key = [](const Row& row) { return std::tuple_cat(std::tie(row.interval), key_of(row)); };
        for (auto& row : all) {
            if (row.reason.name) row.reason.number = -1;
        }
        add_rows(rows, all, key, [](Row& known, const Row& row) { base::add_saturating(known.count, row.count); });
        std::ranges::sort(rows, [](const Row& a, const Row& b) {
            return std::tuple(a.interval, -a.count, key_of(a)) < std::tuple(b.interval, -b.count, key_of(b));
        });
        all = std::move(rows);
    };
    add_up(summary.drops);
    add_up(summary.stacks);
}

void merge_kernels(Summary& into, Summary& other) {
    std::vector<std::string> all;
    std::ranges::set_union(into.kernels, other.kernels, std::back_inserter(all));
    if (all.size() > 1) {
        for (auto* summary : {&into, &other}) {
            if (summary->kernels.size() < 2) drop_places_of_one_kernel(*summary);
        }
    }
    into.kernels = std::move(all);
}

void merge_average(Average& known, const Average& average, std::vector<Note>& notes) {
    if (!known.is_time) {
        // The input does not say of how many each is.
        if (known.mean == average.mean) return;
        known.mean = std::max(known.mean, average.mean);
        auto note = Note(known.name + ": the largest mean of the recordings, which do not state their number of values",
                         NoteKind::count);
        if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
        return;
    }
    base::add_saturating(known.n, average.n);
    add_halves(known.halves, average.halves);
    base::add_saturating(known.error_halves, average.error_halves);
    if (known.n > 0) known.divide();
}

void merge_counter(Counter& known, const Counter& counter) {
    if (counter.count) known.count = base::saturating_add(known.count.value_or(0), *counter.count);
    known.help = std::min(known.help, counter.help);
}

void merge_flaws(std::vector<decode::InputCounts::FlawedLine>& into,
                 const std::vector<decode::InputCounts::FlawedLine>& more) {
    into.insert(into.end(), more.begin(), more.end());
    std::ranges::sort(into, {}, [](const auto& line) { return std::tie(line.number, line.flaw, line.excerpt); });
    if (into.size() > decode::InputCounts::kept_flaws) into.resize(decode::InputCounts::kept_flaws);
}

std::int64_t recorded_ns(const Summary& summary) {
    if (summary.recordings > 1) return summary.recorded_ns;
    if (!summary.start_epoch_ns || !summary.end_epoch_ns) return 0;
    return std::max<std::int64_t>(0, base::saturating_subtract(*summary.end_epoch_ns, *summary.start_epoch_ns));
}

/// Groups stand as they come from an Analyzer: the whole first, then the largest first. Within one, rows stand as in
/// the first recording that has them.
void sort_groups(Summary& summary) {
    std::map<Group, std::int64_t> sizes;
    for (const auto* measures : {&summary.stages, &summary.values}) {
        for (const auto& [name, group, stats] : *measures) {
            auto& size = sizes[group];
            size = std::max(size, stats.n());
        }
    }
    for (auto* measures : {&summary.stages, &summary.values}) {
        std::ranges::stable_sort(*measures, [&](const Measure& a, const Measure& b) {
            const auto key = [&](const Measure& of) {
                const int rank = of.group.empty() ? 0 : table::is_other(of.group) ? 2 : 1;
                return std::tuple<int, std::int64_t, const Group&>(rank, -sizes.at(of.group), of.group);
            };
            return key(a) < key(b);
        });
    }
}

std::string definition_name(const Summary& summary) {
    return summary.definition().empty() ? "none" : base::printable(summary.definition());
}

}  // namespace

base::Result<void> check_one_definition(const Summary& summary, const Summary& other) {
    if (summary.recipe != other.recipe) {
        return base::bad_input(
            fmt::format("a recording of {} cannot be added to one of {}", other.recipe, summary.recipe),
            "give recordings of one recipe only");
    }
    if (summary.definition() != other.definition()) {
        return base::bad_input(
            fmt::format("recordings of {} have different definitions, {} and {}: {}", base::printable(summary.recipe),
                        definition_name(summary), definition_name(other), merge_conflict_of(summary, other)),
            "'stapgen report' shows them separately; compare recordings of one definition");
    }
    return {};
}

base::Result<void> merge(Summary& into, Summary added) {
    if (auto same = check_one_definition(into, added); !same) return same;
    const auto by_group = [](const Measure& measure) { return std::tie(measure.group, measure.name); };
    const auto add_measure = [](Measure& known, const Measure& measure) { known.stats += measure.stats; };
    add_rows(into.stages, added.stages, by_group, add_measure);
    add_rows(into.values, added.values, by_group, add_measure);
    add_rows(
        into.breakdowns, added.breakdowns,
        [](const Breakdown& breakdown) { return std::tie(breakdown.direction(), breakdown.stages()); },
        [](Breakdown& known, const Breakdown& breakdown) { known += breakdown; });
    into.series += std::move(added.series);
    into.resolution_ns = std::max(into.resolution_ns, added.resolution_ns);
    add_rows(
        into.notes, added.notes, [](const Note& note) { return std::tie(note.kind, note.text); }, keep_known);
    add_rows(into.averages, added.averages, by_name,
             [&](Average& known, const Average& average) { merge_average(known, average, into.notes); });
    const auto all_of = [](const Origin& origin) {
        return std::tie(origin.host, origin.kernel, origin.command, origin.filters, origin.machine, origin.labels,
                        origin.build_id, origin.sample, origin.definition, origin.recipe_hash, origin.functions);
    };
    add_rows(into.origins, added.origins, all_of, keep_known);
    std::ranges::sort(into.origins, {}, all_of);
    merge_kernels(into, added);
    append_rows(into, added);
    into.tracks.append(added.tracks);
    into.counted = std::max(into.counted, added.counted);
    into.counts_drops = into.counts_drops || added.counts_drops;
    into.stacks_shown = std::max(into.stacks_shown, added.stacks_shown);
    into.mixed_units = into.mixed_units || added.mixed_units;
    into.levels = into.levels || added.levels;
    into.accounting += added.accounting;
    base::add_saturating(into.aggregated, added.aggregated);
    add_rows(into.counters, added.counters, by_name, merge_counter);
    into.input.lines += added.input.lines;
    into.input.recognised += added.input.recognised;
    into.input.unrecognised += added.input.unrecognised;
    merge_flaws(into.input.first_flaws, added.input.first_flaws);
    add_up(into.transport, added.transport);
    into.cost += added.cost;
    into.sample += added.sample;
    if (into.broke_off.empty() || (!added.broke_off.empty() && added.broke_off < into.broke_off))
        into.broke_off = added.broke_off;
    // The one farther from 0, of equal ones that forward.
    const auto distance = [](std::int64_t ns) { return std::pair(ns < 0 ? base::saturating_subtract(0, ns) : ns, ns); };
    into.clock_set_ns =
        std::max(into.clock_set_ns, added.clock_set_ns, [&](auto a, auto b) { return distance(a) < distance(b); });
    base::add_saturating(into.suspended_ns, added.suspended_ns);

    into.recorded_ns = base::saturating_add(recorded_ns(into), recorded_ns(added));
    base::add_saturating(into.recordings, added.recordings);
    const auto earlier = [](auto a, auto b) { return a && b ? std::min(a, b) : a ? a : b; };
    into.start_epoch_ns = earlier(into.start_epoch_ns, added.start_epoch_ns);
    into.end_epoch_ns = std::max(into.end_epoch_ns, added.end_epoch_ns);
    sort_breakdowns(into.breakdowns);
    sort_groups(into);
    return {};
}

Summary merge_all(std::vector<Summary> recordings) {
    if (std::ranges::all_of(recordings, [](const Summary& recording) { return recording.tracks.empty(); })) {
        std::ranges::stable_sort(recordings, {}, [](const Summary& recording) {
            const auto& origins = recording.origins;
            return std::tuple(recording.start_epoch_ns, recording.end_epoch_ns,
                              origins.empty() ? std::string() : origins.front().host, recording.input.lines,
                              recording.accounting.reported);
        });
    }
    // Neighbours first: a sum is as large as what it is made of, and is moved as often as there are levels.
    for (std::size_t step = 1; step < recordings.size(); step *= 2) {
        for (std::size_t i = 0; i + step < recordings.size(); i += 2 * step) {
            (void)merge(recordings[i], std::move(recordings[i + step]));  // one recipe
            recordings[i + step] = Summary();
        }
    }
    return std::move(recordings.front());
}

}  // namespace stapgen::analyze
