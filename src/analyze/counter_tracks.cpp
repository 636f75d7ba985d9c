// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/counter_tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "analyze/summary.h"
#include "base/kernel.h"
#include "base/saturate.h"

namespace stapgen::analyze {

namespace {

constexpr std::uint64_t half_of_32_bits = std::uint64_t{1} << 31U, all_of_32_bits = std::uint64_t{1} << 32U;

std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t max = std::numeric_limits<std::int64_t>::max();
    return a >= max || b >= max - a ? max : a + b;
}

class CounterDeltas {
  public:
    CounterDeltas(const CounterTracks& tracks, const std::vector<std::string>& by) : tracks_(tracks), by_(by) {}

    void put_into(Summary& summary);

  private:
    struct Row {
        std::int64_t count = 0;
        double per_s = 0;
        bool has_rate = true;
    };

    void add(const CounterTracks::Key& key, CounterTrack track);
    void add(const CounterTracks::Key& key, std::uint64_t count, std::optional<double> per_s = {});
    void note_fall(const CounterTracks::Key& key, const CounterTrack& track);
    void put_notes(Summary& summary) const;

    const CounterTracks& tracks_;
    const std::vector<std::string>& by_;
    std::map<Group, Row> rows_;
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

void CounterDeltas::put_notes(Summary& summary) const {
    auto& notes = summary.notes;
    const auto counters = [](std::int64_t count, std::string_view is = "", std::string_view are = "") {
        return fmt::format("{} counter{}{}", count, count == 1 ? "" : "s", count == 1 ? is : are);
    };
    if (states_ > 0) {
        notes.emplace_back(
            summary.levels ? "sockets in use, memory and what is under way are states, and no totals"
                           : "states (sockets in use, memory, what is under way) do not rise: one sample shows them");
    }
    if (compared_ == 0 && once_ == 0) return;
    if (compared_ == 0) {
        notes.emplace_back(
            "one sample shows totals since the machine or the driver started, not rises: give a second one: stapgen "
            "report BEFORE AFTER");
        return;
    }
    if (summary.levels)
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

void CounterDeltas::put_into(Summary& summary) {
    for (const auto& [key, track] : tracks_.tracks())
        surplus_[track.format] += tracks_.came_later(track) ? -1 : 1;
    for (const auto& [key, track] : tracks_.tracks())
        add(key, track);
    summary.counters_read = static_cast<std::int64_t>(tracks_.tracks().size());
    if (risen_ == 0 && fallen_ == 0) {
        for (const auto& [key, track] : tracks_.tracks()) {
            if (track.last > 0) add(key, track.last);
        }
        summary.counted = "value";
        summary.levels = true;
    }
    put_notes(summary);
    if (tracks_.left_out() > 0) {
        summary.notes.push_back(fmt::format("{} readings are ignored: there are more than {} counters",
                                            tracks_.left_out(), CounterTracks::max_counters));
    }
    const auto interval = static_cast<std::int64_t>(summary.intervals.size());
    const auto first = static_cast<std::ptrdiff_t>(summary.tallies.size());
    for (const auto& [group, row] : rows_) {
        Tally tally{.interval = interval, .end_epoch_ns = end_ns_, .group = group, .count = row.count, .meaning = {}};
        if (row.has_rate) tally.per_s = row.per_s;
        summary.tallies.push_back(std::move(tally));
    }
    std::stable_sort(summary.tallies.begin() + first, summary.tallies.end(),
                     [](const Tally& a, const Tally& b) { return a.count > b.count; });
    summary.intervals.push_back({start_ns_, end_ns_});
    if (!summary.start_epoch_ns) summary.start_epoch_ns = start_ns_;
    summary.end_epoch_ns = std::max(summary.end_epoch_ns, end_ns_);
}

}  // namespace

void CounterTrack::settle(bool wraps) {
    if (samples < 2) return;
    const auto risen = last - before;
    if (wraps && last < all_of_32_bits && static_cast<std::uint32_t>(risen) < half_of_32_bits) {
        rise = capped_sum(rise, static_cast<std::uint32_t>(risen));
    } else if (last >= before && risen < std::uint64_t{1} << 63U) {  // some drivers show -1 for a while
        rise = capped_sum(rise, risen);
    } else {
        ++falls;
        const bool may_be_full = before >= half_of_32_bits && before < all_of_32_bits && last < half_of_32_bits;
        if (may_be_full) {
            wrapped_from = before;
            wrapped_to = last;
        }
    }
}

void CounterTrack::next(std::uint64_t value, bool wraps) {
    settle(wraps);
    before = last;
    last = value;
    ++samples;
}

void CounterTrack::join(const CounterTrack& later, bool wraps) {
    next(later.first, wraps);
    // A sample without a time does not have that of the sample before.
    last_ns = later.last_ns;
    if (later.samples < 2) return;
    settle(wraps);
    rise = capped_sum(rise, later.rise);
    base::add_saturating(falls, later.falls);
    base::add_saturating(samples, later.samples - 1);
    before = later.before;
    last = later.last;
    if (later.wrapped_from) {
        wrapped_from = later.wrapped_from;
        wrapped_to = later.wrapped_to;
    }
}

std::optional<std::int64_t> CounterTrack::length_ns() const {
    if (!first_ns || !last_ns || *last_ns <= *first_ns) return std::nullopt;
    return base::saturating_subtract(*last_ns, *first_ns);
}

void CounterTracks::add(const decode::CounterReading& reading) {
    key_.first.assign(reading.name);
    key_.second.assign(reading.of);
    auto found = tracks_.find(key_);
    if (found == tracks_.end()) {
        if (tracks_.size() >= max_counters) {
            base::add_saturating(left_out_, 1);
            return;
        }
        found = tracks_.emplace(key_, CounterTrack{}).first;
        found->second.format = reading.format;
        found->second.first_sample = reading.sample;
    }
    auto& track = found->second;
    auto samples = samples_.find(reading.format);
    if (samples == samples_.end()) samples = samples_.emplace(reading.format, Samples{.first = reading.sample}).first;
    samples->second.end = std::max(samples->second.end, reading.sample + 1);
    // What a tool says of a rise stands beside no total.
    if (track.is_rise && !reading.is_rise) return;
    if (reading.is_rise && !track.is_rise) track = {.format = track.format, .first_sample = reading.sample};
    if (reading.part && track.last_sample == reading.sample && track.samples > 0) {
        track.last += reading.value;
    } else {
        track.next(reading.value, base::has_32_bits(key_.first));
        const auto time = reading.epoch_ns == decode::unknown_time ? std::nullopt : std::optional(reading.epoch_ns);
        // Of a sample without a time of its own none is known.
        track.last_ns = time == track.last_ns ? std::nullopt : time;
    }
    if (track.samples == 1) {
        track.first = track.last;
        track.first_ns = track.last_ns;
    }
    track.last_sample = reading.sample;
    track.is_rise = reading.is_rise;
    track.is_state = reading.is_state;
    track.zeros_left_out = reading.zeros_left_out;
}

bool CounterTracks::came_later(const CounterTrack& track) const {
    const auto samples = samples_.find(track.format);
    return samples != samples_.end() && track.first_sample > samples->second.first;
}

void CounterTracks::append(const CounterTracks& later) {
    const auto before = samples_;
    for (const auto& [format, samples] : later.samples_) {
        const auto [found, is_new] = samples_.try_emplace(format, samples);
        if (!is_new) base::add_saturating(found->second.end, samples.end);
    }
    base::add_saturating(left_out_, later.left_out_);
    for (const auto& [key, track] : later.tracks_) {
        const auto known_samples = before.find(track.format);
        const auto shift = known_samples == before.end() ? 0 : known_samples->second.end;
        auto found = tracks_.find(key);
        if (found == tracks_.end()) {
            if (tracks_.size() >= max_counters) {
                base::add_saturating(left_out_, track.samples);
                continue;
            }
            found = tracks_.emplace(key, track).first;
            found->second.first_sample += shift;
            found->second.last_sample += shift;
            continue;
        }
        auto& into = found->second;
        into.join(track, base::has_32_bits(key.first));
        into.last_sample = track.last_sample + shift;
    }
}

void put_counter_deltas(Summary& summary, const std::vector<std::string>& by) {
    if (summary.tracks.empty()) return;
    CounterDeltas(summary.tracks, by).put_into(summary);
}

}  // namespace stapgen::analyze
