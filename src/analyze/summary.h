// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyze/accounting.h"
#include "analyze/counter_tracks.h"
#include "analyze/groups.h"
#include "base/saturate.h"
#include "decode/record_parser.h"
#include "recording/facts.h"
#include "table/breakdown.h"
#include "table/histogram.h"
#include "table/series.h"

namespace stapgen::analyze {

using decode::Note, decode::NoteKind;
using table::Block, table::Breakdown, table::Series, table::SlowRecord;

/// The distribution of one stage (ns) or of one value (no unit), of the whole or of one group.
struct Measure {
    std::string name;
    Group group;
    table::Histogram stats;
};

/// Packets of one group dropped at one place for one reason in one interval.
struct Drop {
    std::int64_t interval = 0;                   ///< counted from 0, see Summary::intervals
    std::optional<std::int64_t> end_epoch_ns{};  ///< when that interval ended; nothing if the input stops before
    table::Place place{};
    table::Reason reason{};
    Group group{};  ///< what else they have in common; empty if nothing was asked for
    std::int64_t count = 0;
};

/// What drops of one place, reason and group have in common.
inline auto key_of(const Drop& drop) {
    return std::tie(drop.place, drop.reason, drop.group);
}

/// Packets dropped for one reason on one call path in one interval.
struct Stack {
    std::int64_t interval = 0;                   ///< counted from 0, see Summary::intervals
    std::optional<std::int64_t> end_epoch_ns{};  ///< when that interval ended; nothing if the input stops before
    table::Reason reason{};
    table::Shared<table::Path> frames{table::Path()};  ///< none: further paths
    std::int64_t count = 0;
};

/// What paths that are the same have in common.
inline auto key_of(const Stack& stack) {
    return std::tie(stack.reason, stack.frames);
}

/// Where it has a name that is all of it: addresses and offsets differ from kernel to kernel.
inline void keep_name_only(table::Place& place) {
    if (!place.symbol) return;
    place.address.reset();
    place.offset.reset();
}

/// Calls with each place of a path, which may change it. A path that stays as it is stays shared.
void for_each_frame(Stack& stack, auto call) {
    auto path = *stack.frames;
    for (auto& place : path)
        call(place);
    if (path != *stack.frames) stack.frames = std::move(path);
}

/// Calls with each place of the kernel that may have a name: drops, and frames of paths.
void for_each_place(auto& summary, auto call) {
    for (auto& drop : summary.drops)
        call(drop.place);
    for (auto& stack : summary.stacks)
        for_each_frame(stack, call);
}

/// How much was counted of one group in one interval.
struct Tally {
    std::int64_t interval = 0;                   ///< counted from 0, see Summary::intervals
    std::optional<std::int64_t> end_epoch_ns{};  ///< when that interval ended; nothing if the input stops before
    Group group{};
    std::int64_t count = 0;
    std::string meaning{};          ///< for a person: filled in by whoever has the recipe; empty if there is none
    bool loss = false;              ///< likewise: something was lost where this is counted
    bool loss_by_name = false;      ///< likewise: its name says so, and nobody has looked it up
    std::optional<double> per_s{};  ///< where it is known over what time it was counted, and that is not the interval

    /// Of a counter; null where it is grouped by something else.
    [[nodiscard]] const std::string* name() const {
        return group.empty() ? nullptr : std::get_if<std::string>(&group.front().value);
    }
};

/// What tallies of one thing have in common.
inline auto key_of(const Tally& tally) {
    return std::tie(tally.group);
}

/// One call of a function of the kernel.
struct Call {
    static constexpr std::size_t max_kept = 10000;       ///< limit per input
    static constexpr std::size_t max_text_length = 256;  ///< bytes; longer names and arguments are cut

    std::int64_t packet = 0;    ///< the number of the tree that it belongs to
    std::int64_t begin_ns = 0;  ///< since 1970, if the input says how its clock goes with that; else of that clock
    std::int64_t duration_ns = 0;
    std::int64_t depth = 0;  ///< 0 to 255
    std::string function, args;
    bool in_thread = false;  ///< else in softirq, where the thread is the one that was interrupted
    std::int64_t cpu = 0, tid = 0;
    std::string comm;
};

/// The span between two ticks.
struct Interval {
    std::optional<std::int64_t> start_epoch_ns;
    std::optional<std::int64_t> end_epoch_ns;  ///< nothing if the input stops before its tick
};

using recording::Counter;
using recording::Origin;
using recording::Transport;

/// The mean of something whose distribution is not known: the input gave means only.
struct Average {
    std::string name;
    bool is_time = true;  ///< ns, else a number without a unit
    std::int64_t n = 0;
    double mean = 0;
    double error = 0;  ///< the true mean is this far away at most: the input cuts digits off
    __extension__ using Wide = __int128;
    Wide halves = 0;  ///< twice the sum of times, the source of `mean`: an integer, so that sums are exact
    std::int64_t error_halves = 0;  ///< likewise of `error`

    /// Sets mean and error of times from the sums. n is above 0.
    void divide();
};

/// What would be too large is not added.
void add_halves(Average::Wide& into, Average::Wide more);

/// Averages of one interval, in the order of Summary::averages.
struct AverageInterval {
    std::int64_t line = 0;  ///< of the input, counted from 1
    std::int64_t n = 0;
    std::vector<Average> averages;
};

/// All that a report shows. Plain data. How the run ended is set by the caller.
struct Summary : recording::RunEnd {
    std::string recipe;
    std::vector<Origin> origins;  ///< of one definition
    std::string
        merge_conflict;  ///< why it is not added to another of the same recipe, for a person; empty: there is none
    std::vector<Measure> stages;        ///< the whole in recipe order, then each group, the largest first
    std::vector<Measure> values;        ///< likewise
    std::vector<Breakdown> breakdowns;  ///< one for each direction, by its name
    Series series;  ///< of stages and values, in the order of their first rows above; empty without times
    std::vector<Average> averages;  ///< of the whole
    std::vector<AverageInterval> average_intervals;
    std::int64_t resolution_ns = 1;  ///< stages are multiples of it
    std::vector<Note> notes;         ///< "requests above 100 us are cut off"
    bool counts_drops = false;       ///< the recipe's records are drops: no drop is a result, too
    std::vector<Drop> drops;         ///< by interval, then by count, the largest first
    std::vector<Stack> stacks;       ///< by interval, then by count, the largest first
    std::size_t stacks_shown = 5;    ///< number shown per reason
    std::string counted;             ///< the field whose sums are the tallies, "pages"; empty: nothing is counted
    std::vector<Tally> tallies;      ///< by interval, then by count, the largest first
    bool mixed_units = false;        ///< tallies are of bytes, packets and times: no sum of them means anything
    bool levels = false;             ///< tallies are the values of counters: there was one sample, or none rose
    CounterTracks tracks;            ///< counters as they were read; put_counter_deltas() makes tallies of them
    std::int64_t counters_read = 0;  ///< number of counters read; 0: unknown
    /// recording::definition_of(); empty: not known.
    [[nodiscard]] std::string definition() const { return origins.empty() ? "" : origins.front().definition; }
    /// Whether its records are counts. A latency recipe may count drops beside them.
    [[nodiscard]] bool counts() const { return (counts_drops && stages.empty()) || !counted.empty(); }
    std::vector<Call> calls;          ///< see sort_calls()
    std::int64_t calls_left_out = 0;  ///< further ones, that are in the statistics only
    std::vector<Interval> intervals;  ///< all of them, also those in which nothing happened
    Accounting accounting;
    /// Number of reported records that were aggregated in the kernel: they are in no group, and the slowest of them
    /// may be unknown.
    std::int64_t aggregated = 0;
    decode::InputCounts input;  ///< set by the caller from RecordParser::input()
    Cost cost;
    Sample sample;
    std::optional<std::int64_t> start_epoch_ns;  ///< probes were live
    std::optional<std::int64_t> end_epoch_ns;    ///< the last moment in the input
    std::int64_t recordings = 1;                 ///< that were added up
    std::vector<std::string> kernels;            ///< that drops are of, release and build-id, as far as they are known
    std::int64_t recorded_ns = 0;                ///< of more than one: their lengths together; 0: not known
};

/// The drops of all intervals together, by place, reason and group, the largest first; `interval` and
/// `end_epoch_ns` mean nothing in them.
std::vector<Drop> total_drops(const Summary& summary);

/// The call paths of all intervals together, by the names of their functions as far as these are known; those of the
/// most frequent reason first, of one reason the largest first. `interval` and `end_epoch_ns` mean nothing in them.
std::vector<Stack> total_stacks(const Summary& summary);

/// What is shown first: 3 for losses, 2 for what is one by its name, 1 for what has a meaning, 0 for the rest, and last
/// -1 for counters of bytes, which would be above those of packets by their number alone.
int rank_of(const Summary& summary, const Tally& tally);

/// The tallies of all intervals together, by rank_of(), of one rank the largest first; `interval` and `end_epoch_ns`
/// mean nothing in them.
std::vector<Tally> total_tallies(const Summary& summary);

/// The call that a record with a field of the attribute `depth` describes; any other record is passed over.
void add_call(Summary& summary, const decode::Record& record);

/// By packet, then by context, then by begin: an order in which a call precedes those that it made.
void sort_calls(std::vector<Call>& calls);

/// Of the whole; null where there is no such stage.
const table::Histogram* stage_of(const Summary& summary, std::string_view name);

/// Whether anything in it says that data is missing: lost, skipped, unaccounted, broken off or not closed.
bool is_whole(const Summary& summary);

/// What differs in their definitions, for a person.
std::string merge_conflict_of(const Summary& summary, const Summary& other);

}  // namespace stapgen::analyze
