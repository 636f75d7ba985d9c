// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <type_traits>

#include "analyze/summary.h"
#include "base/saturate.h"
#include "base/text.h"

namespace stapgen::analyze {

namespace {

using Portion = MergeState::Portion;

constexpr auto last_place = std::numeric_limits<std::size_t>::max();

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

/// Calls with each named list and how to get at the names of its rows.
void for_each_list(auto& summary, auto call) {
    const auto named = [](const auto& row) -> const std::string& { return row.name; };
    const auto text = [](const Note& row) -> const std::string& { return row.text; };
    const auto point = [](const ProbeCost& row) -> const std::string& { return row.point; };
    call(NamedList::stages, summary.stages, named);
    call(NamedList::values, summary.values, named);
    call(NamedList::averages, summary.averages, named);
    call(NamedList::notes, summary.notes, text);
    call(NamedList::counters, summary.counters, named);
    call(NamedList::incomplete, summary.accounting.incomplete, named);
    call(NamedList::lost, summary.accounting.lost, named);
    call(NamedList::other, summary.accounting.other, named);
    call(NamedList::skipped, summary.transport.skipped_by, named);
    call(NamedList::probes, summary.cost.probes, point);
}

class Digest {
  public:
    void add(std::int64_t number) {
        constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
        value_ = (std::rotl(value_, 23) ^ static_cast<std::uint64_t>(number)) * factor;
    }
    void add(const std::optional<std::int64_t>& number) {
        add(std::int64_t{number.has_value()});
        add(number.value_or(0));
    }
    void add(const std::string& text) {
        for (const char c : text)
            add(std::int64_t{c});
        add(static_cast<std::int64_t>(text.size()));
    }
    void add(bool value) { add(std::int64_t{value}); }
    void add(double value) { add(std::bit_cast<std::int64_t>(value)); }
    [[nodiscard]] std::uint64_t value() const { return value_ ^ value_ >> 32U; }

  private:
    std::uint64_t value_ = 0;
};

std::uint64_t digest_of(const Summary& summary) {
    Digest digest;
    const auto add = [&](const auto&... fields) { (digest.add(fields), ...); };
    for (const auto& [start, end] : summary.intervals)
        add(start, end);
    const auto add_group = [&](const Group& group) {
        for (const auto& [key, value] : group)
            std::visit([&, &name = key](const auto& known) { add(name, known); }, value);
    };
    for (const auto& drop : summary.drops) {
        add(drop.interval, static_cast<std::int64_t>(drop.place.address.value_or(0)), drop.reason.number, drop.count,
            drop.place.symbol.value_or(""), static_cast<std::int64_t>(drop.place.offset.value_or(0)),
            drop.place.module.value_or(""), drop.reason.name.value_or(""));
        add_group(drop.group);
    }
    for (const auto& stack : summary.stacks) {
        add(stack.interval, stack.reason.number, stack.count, stack.reason.name.value_or(""));
        for (const auto& frame : stack.frames)
            add(static_cast<std::int64_t>(frame.address.value_or(0)), frame.symbol.value_or(""));
    }
    for (const auto& tally : summary.tallies) {
        add(tally.interval, tally.count);
        add_group(tally.group);
    }
    for (const auto& call : summary.calls)
        add(call.packet, call.begin_ns, call.duration_ns, call.depth, call.function, call.args);
    for (const auto& interval : summary.average_intervals) {
        add(interval.line, interval.n);
        for (const auto& average : interval.averages)
            add(average.name, average.mean);
    }
    return digest.value();
}

/// Of a recording to which nothing was added yet: all is its own.
void begin_sum(Summary& summary) {
    auto& [places, portions] = summary.merge_state;
    if (!portions.empty()) return;
    for_each_list(summary, [&](NamedList list, const auto& rows, auto name_of) {
        std::size_t place = 0;
        for (const auto& row : rows)
            place += places.emplace(std::pair(list, name_of(row)), place).second ? 1 : 0;
    });
    // Behind the script's own.
    if (const auto found = places.find({NamedList::lost, "transport"}); found != places.end())
        found->second = last_place;
    const auto packets = summary.calls.empty() ? 0 : std::ranges::max(summary.calls, {}, &Call::packet).packet;
    portions.push_back({summary.start_epoch_ns, summary.end_epoch_ns, summary.input.lines, summary.accounting.reported,
                        digest_of(summary), summary.intervals.size(), summary.average_intervals.size(),
                        summary.calls.size(), packets});
}

/// Hands out the rows of its portions, one portion after the other.
class RecordingCursor {
  public:
    explicit RecordingCursor(Summary& of) : of_(of) {}

    [[nodiscard]] bool at_end() const { return at_ == of_.merge_state.portions.size(); }
    [[nodiscard]] const Portion& next() const { return of_.merge_state.portions[at_]; }

    /// The next one's, behind those of `into`.
    void move_to(Summary& into) {
        auto portion = next();
        const auto shift = static_cast<std::int64_t>(into.intervals.size()) - static_cast<std::int64_t>(interval_);
        move(of_.intervals, portion.intervals, interval_, into.intervals);
        move(of_.average_intervals, portion.average_intervals, average_, into.average_intervals);
        const bool is_last = at_ + 1 == of_.merge_state.portions.size();
        move_rows(of_.drops, is_last, shift, drop_, into.drops);
        move_rows(of_.tallies, is_last, shift, tally_, into.tallies);
        move_rows(of_.stacks, is_last, shift, stack_, into.stacks);
        const auto first_call = into.calls.size();
        const auto kept = std::min(portion.calls, Call::max_kept - std::min(Call::max_kept, first_call));
        const auto left_out = portion.calls - kept;
        move(of_.calls, kept, call_, into.calls);
        call_ += left_out;
        base::add_saturating(into.calls_left_out, static_cast<std::int64_t>(left_out));
        portion.calls = kept;
        const auto packets = std::accumulate(
            into.merge_state.portions.begin(), into.merge_state.portions.end(), std::int64_t{0},
            [](std::int64_t sum, const Portion& before) { return base::saturating_add(sum, before.packets); });
        for (auto& call : std::span(into.calls).subspan(first_call))
            call.packet = base::saturating_add(base::saturating_subtract(call.packet, packets_), packets);
        base::add_saturating(packets_, portion.packets);
        into.merge_state.portions.push_back(portion);
        ++at_;
    }

  private:
    template <class Row>
    static void move(std::vector<Row>& from, std::size_t count, std::size_t& at, std::vector<Row>& into) {
        const auto begin = from.begin() + static_cast<std::ptrdiff_t>(at);
        std::move(begin, begin + static_cast<std::ptrdiff_t>(count), std::back_inserter(into));
        at += count;
    }
    /// Those of intervals before interval_.
    template <class Row>
    void move_rows(std::vector<Row>& from, bool all, std::int64_t shift, std::size_t& at, std::vector<Row>& into) {
        for (; at < from.size() && (all || from[at].interval < static_cast<std::int64_t>(interval_)); ++at) {
            into.push_back(std::move(from[at]));
            into.back().interval += shift;
        }
    }

    Summary& of_;
    std::size_t at_ = 0, interval_ = 0, average_ = 0, call_ = 0, drop_ = 0, tally_ = 0, stack_ = 0;
    std::int64_t packets_ = 0;
};

/// What is not added up stands by recording.
void merge_rows(Summary& into, Summary& other) {
    auto& portions = into.merge_state.portions;
    Summary mine;
    mine.intervals = std::exchange(into.intervals, {});
    mine.average_intervals = std::exchange(into.average_intervals, {});
    mine.drops = std::exchange(into.drops, {});
    mine.tallies = std::exchange(into.tallies, {});
    mine.stacks = std::exchange(into.stacks, {});
    mine.calls = std::exchange(into.calls, {});
    mine.merge_state.portions = std::exchange(portions, {});
    base::add_saturating(into.calls_left_out, other.calls_left_out);
    RecordingCursor left(mine), right(other);
    while (!left.at_end() || !right.at_end()) {
        const bool is_left = right.at_end() || (!left.at_end() && left.next() <= right.next());
        (is_left ? left : right).move_to(into);
    }
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

/// Rows stand as in the recordings; groups as they come from an Analyzer: the whole first, then the largest first.
void sort_lists(Summary& summary) {
    const auto& places = summary.merge_state.places;
    const auto place_of = [&](NamedList list, const std::string& name) { return places.at({list, name}); };
    for_each_list(summary, [&](NamedList list, auto& rows, auto name_of) {
        using Row = typename std::remove_reference_t<decltype(rows)>::value_type;
        if constexpr (!std::is_same_v<Row, Measure>) {
            std::ranges::stable_sort(rows, {}, [&](const Row& row) -> std::pair<std::size_t, const std::string&> {
                return {place_of(list, name_of(row)), name_of(row)};
            });
        }
    });
    sort_breakdowns(summary.breakdowns);
    std::map<Group, std::int64_t> sizes;
    for (const auto* measures : {&summary.stages, &summary.values}) {
        for (const auto& [name, group, stats] : *measures) {
            auto& size = sizes[group];
            size = std::max(size, stats.n());
        }
    }
    struct Key {
        int rank = 0;
        std::int64_t smallness = 0;
        const Group* group = nullptr;
        std::size_t place = 0;
        const std::string* name = nullptr;
    };
    for (auto [list, measures] :
         {std::pair(NamedList::stages, &summary.stages), std::pair(NamedList::values, &summary.values)}) {
        std::vector<std::pair<Key, std::size_t>> order;
        for (std::size_t i = 0; i < measures->size(); ++i) {
            const auto& [name, group, stats] = (*measures)[i];
            const bool is_other = !group.empty() && group.back().key == "other";
            const int rank = group.empty() ? 0 : is_other ? 2 : 1;
            order.push_back({{rank, -sizes.at(group), &group, place_of(list, name), &name}, i});
        }
        std::ranges::sort(order, [](const auto& a, const auto& b) {
            const auto tied = [](const Key& key) {
                return std::tie(key.rank, key.smallness, *key.group, key.place, *key.name);
            };
            return tied(a.first) < tied(b.first);
        });
        std::vector<Measure> sorted;
        sorted.reserve(order.size());
        for (const auto& [key, i] : order)
            sorted.push_back(std::move((*measures)[i]));
        *measures = std::move(sorted);
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
    begin_sum(into);
    begin_sum(added);
    for (const auto& [name, place] : added.merge_state.places) {
        auto& known = into.merge_state.places.emplace(name, place).first->second;
        known = std::min(known, place);
    }
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
    merge_rows(into, added);
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
    for_each_list(into, [&](NamedList list, const auto& rows, auto name_of) {
        for (const auto& row : rows)  // of what adding made itself: notes
            into.merge_state.places.emplace(std::pair(list, name_of(row)), last_place);
    });
    sort_lists(into);
    return {};
}

Summary merge_all(std::vector<Summary> recordings) {
    for (std::size_t step = 1; step < recordings.size(); step *= 2) {
        for (std::size_t i = 0; i + step < recordings.size(); i += 2 * step) {
            (void)merge(recordings[i], std::move(recordings[i + step]));  // one recipe
            recordings[i + step] = Summary();
        }
    }
    return std::move(recordings.front());
}

}  // namespace stapgen::analyze
