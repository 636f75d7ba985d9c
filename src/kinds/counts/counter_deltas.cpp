// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/kernel.h"
#include "base/saturate.h"
#include "kinds/counts/counts.h"
#include "table/counter_tracks.h"

namespace stapgen::kinds::counts {

namespace {

using table::CounterTrack, table::CounterTracks, table::Group;

class CounterDeltas {
  public:
    CounterDeltas(const CounterTracks& tracks, const std::vector<std::string>& by) : tracks_(tracks), by_(by) {}

    void put_into(Measured& measured);

  private:
    struct Row {
        std::int64_t count = 0;
        double per_s = 0;
        bool has_rate = true;
    };

    void add(const CounterTracks::Key& key, CounterTrack track);
    void add(const CounterTracks::Key& key, std::uint64_t count, std::optional<double> per_s = {});
    void note_fall(const CounterTracks::Key& key, const CounterTrack& track);
    void put_notes(std::vector<Note>& notes) const;

    const CounterTracks& tracks_;
    const std::vector<std::string>& by_;
    std::map<Group, Row> rows_;
    bool levels_ = false;  ///< nothing rose: what is shown are values
    std::int64_t compared_ = 0, risen_ = 0, fallen_ = 0, once_ = 0, from_zero_ = 0, states_ = 0;
    /// By format, how many more of its counters are in its first sample than came later. Where it leaves out zeros and
    /// less than half were there before, those were a choice, and what came later was not 0.
    std::map<std::string, std::int64_t> surplus_;
    std::vector<Note> wraps_;
    std::optional<std::int64_t> start_ns_, end_ns_;
};

void CounterDeltas::add(const CounterTracks::Key& key, std::uint64_t count, std::optional<double> per_s) {
    Group group;
    for (const auto& part : by_)
        group.push_back({part, part == "name" ? key.first : key.second});
    auto& row = rows_[std::move(group)];
    constexpr std::uint64_t max = std::numeric_limits<std::int64_t>::max();
    base::add_saturating(row.count, static_cast<std::int64_t>(std::min(count, max)));
    row.has_rate = row.has_rate && per_s;
    row.per_s += per_s.value_or(0);
}

void CounterDeltas::note_fall(const CounterTracks::Key& key, const CounterTrack& track) {
    ++fallen_;
    add({"reset." + key.first, key.second}, static_cast<std::uint64_t>(track.falls));
    constexpr std::size_t max_wraps = 5;
    if (!track.wrapped_from || wraps_.size() >= max_wraps) return;
    wraps_.emplace_back(
        fmt::format("{} of {} fell from {} to {}: if it has 32 bits and began anew, it rose by {} there", key.first,
                    key.second, *track.wrapped_from, *track.wrapped_to,
                    *track.wrapped_to + (std::uint64_t{1} << 32U) - *track.wrapped_from),
        NoteKind::count);
}

void CounterDeltas::add(const CounterTracks::Key& key, CounterTrack track) {
    if (track.first_ns) start_ns_ = std::min(start_ns_.value_or(*track.first_ns), *track.first_ns);
    if (track.last_ns) end_ns_ = std::max(end_ns_.value_or(*track.last_ns), *track.last_ns);
    if (track.is_state) {
        ++states_;
        return;
    }
    std::optional<double> per_s;
    if (track.is_rise) {
        track.rise = track.last;
    } else if (track.samples > 1) {
        track.settle(base::has_32_bits(key.first));
        if (const auto ns = track.length_ns()) per_s = static_cast<double>(track.rise) * 1e9 / static_cast<double>(*ns);
    } else if (track.zeros_left_out && tracks_.came_later(track) && surplus_.at(track.format) >= 0) {
        track.rise = track.last;
        if (track.rise > 0) ++from_zero_;
    } else {
        ++once_;
        return;
    }
    ++compared_;
    if (track.falls > 0 && !track.is_rise) return note_fall(key, track);
    if (track.rise == 0) return;
    ++risen_;
    add(key, track.rise, per_s);
}

void CounterDeltas::put_notes(std::vector<Note>& notes) const {
    const auto counters = [](std::int64_t count, std::string_view is = "", std::string_view are = "") {
        return fmt::format("{} counter{}{}", count, count == 1 ? "" : "s", count == 1 ? is : are);
    };
    if (states_ > 0) {
        notes.emplace_back(
            levels_ ? "sockets in use, memory and packets under way are states, not totals"
                    : "states (sockets in use, memory, packets under way) do not rise: one sample shows them");
    }
    if (compared_ == 0 && once_ == 0) return;
    if (compared_ == 0) {
        notes.emplace_back(
            "one sample shows totals since the machine or the driver started, not rises: give a second one: stapgen "
            "report BEFORE AFTER");
        return;
    }
    if (levels_)
        notes.emplace_back(
            "nothing rose between the samples: these are totals since the machine or the driver started");
    if (once_ > 0)
        notes.emplace_back(counters(once_, " is", " are") + " in one sample only: the rise is not known",
                           NoteKind::count);
    if (from_zero_ > 0) {
        notes.emplace_back(counters(from_zero_, " is", " are") +
                               " in later samples only: 0 before, since netstat, nstat and ss leave out zeros",
                           NoteKind::count);
    }
    if (fallen_ > 0 && fallen_ >= risen_) {
        notes.emplace_back(fmt::format("{} fell and {} rose: the samples are in the wrong order or of two machines, or "
                                       "the machine restarted between them; nstat without -a prints rises",
                                       counters(fallen_), risen_),
                           NoteKind::count);
    }
    notes.insert(notes.end(), wraps_.begin(), wraps_.end());
}

void CounterDeltas::put_into(Measured& measured) {
    for (const auto& [key, track] : tracks_.tracks())
        surplus_[track.format] += tracks_.came_later(track) ? -1 : 1;
    for (const auto& [key, track] : tracks_.tracks())
        add(key, track);
    set_fact(measured, "counters_read", static_cast<std::int64_t>(tracks_.tracks().size()));
    if (risen_ == 0 && fallen_ == 0) {
        for (const auto& [key, track] : tracks_.tracks()) {
            if (track.last > 0) add(key, track.last);
        }
        levels_ = true;
        set_fact(measured, "counted", "value");
        set_fact(measured, "levels", true);
    }
    put_notes(measured.notes);
    if (tracks_.left_out() > 0) {
        measured.notes.push_back(fmt::format("{} readings are ignored: there are more than {} counters",
                                             tracks_.left_out(), CounterTracks::max_counters));
    }
    auto counts = counts_table();
    for (const auto& [group, row] : rows_) {
        counts.rows.push_back({table::value_of(end_ns_),
                               std::int64_t{0},
                               {},
                               group,
                               row.count,
                               {},
                               false,
                               {},
                               row.has_rate ? table::Value(row.per_s) : table::Value()});
    }
    largest_first(counts);
    auto intervals = intervals_table();
    intervals.rows.push_back({std::int64_t{0}, table::value_of(start_ns_), table::value_of(end_ns_)});
    append(measured.tables, {std::move(intervals), std::move(counts)});
    if (!measured.start_epoch_ns) measured.start_epoch_ns = start_ns_;
    measured.end_epoch_ns = std::max(measured.end_epoch_ns, end_ns_);
}

}  // namespace

void put_counter_deltas(Measured& measured, const std::vector<std::string>& by) {
    const auto found = std::ranges::find(measured.tables, "readings", &table::Table::name);
    if (found == measured.tables.end()) return;
    const auto readings = std::move(*found);
    measured.tables.erase(found);
    CounterDeltas(*table::held<CounterTracks>(readings.rows.front().front()), by).put_into(measured);
}

}  // namespace stapgen::kinds::counts
