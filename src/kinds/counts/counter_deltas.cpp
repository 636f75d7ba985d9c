// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "base/kernel.h"
#include "base/saturate.h"
#include "kinds/counts/counts.h"
#include "table/counter_tracks.h"
#include "table/merge.h"

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

    /// Signs against the samples of a source's kernel, or of a device of it, being of one source.
    struct Doubt {
        std::int64_t fell = 0, rose = 0;  ///< counters
        /// Counters that are in some samples, in the first one only, in later ones only.
        std::int64_t in_several = 0, in_first = 0, in_later = 0;
    };
    using Scope = std::pair<std::size_t, std::string>;

    void look_for_doubts();
    [[nodiscard]] bool is_doubtful(const CounterTracks::Key& key) const;
    void add(const CounterTracks::Key& key, CounterTrack track);
    void add(const CounterTracks::Key& key, std::uint64_t count, std::optional<double> per_s = {});
    [[nodiscard]] std::string of_text(const CounterTracks::Key& key) const;
    void note_fall(const CounterTracks::Key& key, const CounterTrack& track);
    void put_source_note(std::vector<Note>& notes) const;
    void put_notes(std::vector<Note>& notes) const;

    const CounterTracks& tracks_;
    const std::vector<std::string>& by_;
    std::map<Group, Row> rows_;
    bool levels_ = false;  ///< nothing rose: what is shown are values
    std::int64_t compared_ = 0, rises_ = 0, risen_ = 0, fallen_ = 0, once_ = 0, from_zero_ = 0, states_ = 0,
                 doubtful_ = 0;
    /// By source and format, how many more of its counters are in its first sample than came later. Where it leaves out
    /// zeros and less than half were there before, those were a choice, and what came later was not 0.
    std::map<Scope, std::int64_t> surplus_;
    std::map<Scope, Doubt> doubts_;  ///< by source and device; "": the kernel's
    std::string first_fall_;
    std::vector<Note> wraps_;
    std::optional<std::int64_t> start_ns_, end_ns_;
};

/// No device's: one that fell speaks against all of its source.
bool is_of_kernel(const CounterTracks::Key& key) {
    return key.of == "-" || base::has_32_bits(key.name);
}

void CounterDeltas::look_for_doubts() {
    for (auto [key, track] : tracks_.tracks()) {
        if (track.is_rise || track.is_state || track.samples == 0) continue;
        auto& doubt = doubts_[{key.source, is_of_kernel(key) ? "" : key.of}];
        track.settle(base::has_32_bits(key.name));
        const bool fell = track.falls > 0 && !track.wrapped_from;
        if (fell && first_fall_.empty()) first_fall_ = fmt::format("{} of {}", key.name, of_text(key));
        doubt.fell += fell ? 1 : 0;
        doubt.rose += track.rise > 0 ? 1 : 0;
        ++(track.samples > 1                       ? doubt.in_several
           : tracks_.came_later(key.source, track) ? doubt.in_later
                                                   : doubt.in_first);
    }
}

/// Drivers show levels among their counters, so that most have to fall. Where no line names the device, two that have
/// different counters are two devices.
bool CounterDeltas::is_doubtful(const CounterTracks::Key& key) const {
    const auto kernel = doubts_.find({key.source, ""}), own = doubts_.find({key.source, key.of});
    if (kernel != doubts_.end() && kernel->second.fell > 0) return true;
    if (own == doubts_.end() || is_of_kernel(key)) return false;
    const auto& doubt = own->second;
    return (doubt.fell > 0 && doubt.fell >= doubt.rose) ||
           (key.of == "?" && doubt.in_several < std::min(doubt.in_first, doubt.in_later));
}

/// One source alone is named by the place of its command only.
std::string CounterDeltas::of_text(const CounterTracks::Key& key) const {
    if (tracks_.sources().size() > 1) return tracks_.sources()[key.source].text(key.of);
    return table::CounterSource{.inside = tracks_.sources()[key.source].inside}.text(key.of);
}

void CounterDeltas::add(const CounterTracks::Key& key, std::uint64_t count, std::optional<double> per_s) {
    Group group;
    for (const auto& part : by_)
        group.push_back({part, part == "name" ? key.name : of_text(key)});
    auto& row = rows_[std::move(group)];
    constexpr std::uint64_t max = std::numeric_limits<std::int64_t>::max();
    base::add_saturating(row.count, static_cast<std::int64_t>(std::min(count, max)));
    row.has_rate = row.has_rate && per_s;
    row.per_s += per_s.value_or(0);
}

void CounterDeltas::note_fall(const CounterTracks::Key& key, const CounterTrack& track) {
    ++fallen_;
    add({"reset." + key.name, key.of, key.source}, static_cast<std::uint64_t>(track.falls));
    constexpr std::size_t max_wraps = 5;
    if (!track.wrapped_from || wraps_.size() >= max_wraps) return;
    wraps_.emplace_back(
        fmt::format("{} of {} fell from {} to {}: if it has 32 bits and began anew, it rose by {} there", key.name,
                    of_text(key), *track.wrapped_from, *track.wrapped_to,
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
    if (track.samples == 0) return;
    std::optional<double> per_s;
    if (track.is_rise) {
        track.rise = track.last;
        if (track.over_ns > 0) per_s = static_cast<double>(track.rise) * 1e9 / static_cast<double>(track.over_ns);
    } else if (track.samples > 1) {
        track.settle(base::has_32_bits(key.name));
        if (const auto ns = track.length_ns()) per_s = static_cast<double>(track.rise) * 1e9 / static_cast<double>(*ns);
    } else if (track.zeros_left_out && tracks_.came_later(key.source, track) &&
               surplus_.at({key.source, track.format}) >= 0) {
        track.rise = track.last;
        if (track.rise > 0) ++from_zero_;
    } else {
        ++once_;
        return;
    }
    ++compared_;
    rises_ += track.is_rise ? 1 : 0;
    if (track.falls > 0 && !track.is_rise) return note_fall(key, track);
    if (track.rise == 0) return;
    if (!track.is_rise && is_doubtful(key)) {
        ++doubtful_;
        return;
    }
    ++risen_;
    add(key, track.rise, per_s);
}

void CounterDeltas::put_source_note(std::vector<Note>& notes) const {
    constexpr std::size_t max_named = 5;
    const auto& sources = tracks_.sources();
    std::string text;
    for (std::size_t i = 0; i < std::min(sources.size(), max_named); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : "; ", sources[i].description());
    if (sources.size() > max_named) text += fmt::format("; and {} more", sources.size() - max_named);
    notes.emplace_back(
        fmt::format("the samples are of {} sources, and compared within each only: {}", sources.size(), text),
        NoteKind::count);
}

void CounterDeltas::put_notes(std::vector<Note>& notes) const {
    const auto counters = [](std::int64_t count, std::string_view is = "", std::string_view are = "") {
        return fmt::format("{} counter{}{}", count, count == 1 ? "" : "s", count == 1 ? is : are);
    };
    if (states_ > 0) {
        notes.emplace_back(
            levels_
                ? "sockets in use, memory, packets under way and neighbours are states, not totals"
                : "states (sockets in use, memory, packets under way, neighbours) do not rise: one sample shows them");
    }
    if (tracks_.sources().size() > 1) put_source_note(notes);
    if (compared_ == 0 && once_ == 0) return;
    if (compared_ == 0) {
        notes.emplace_back(
            "one sample shows totals since the machine or the driver started, not rises: give a second one: stapgen "
            "report BEFORE AFTER");
        return;
    }
    if (levels_ && compared_ > rises_)
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
    const auto left_out = doubtful_ == 0 ? "" : fmt::format("; the rise of {} is left out", counters(doubtful_));
    if (!first_fall_.empty() && (doubtful_ > 0 || risen_ == 0)) {
        notes.emplace_back(fmt::format("{} fell, such as {}: the samples are of two sources or in the wrong order, or "
                                       "the machine or device was restarted between them{}; nstat without -a prints "
                                       "rises",
                                       counters(fallen_), first_fall_, left_out),
                           NoteKind::count);
    } else if (doubtful_ > 0) {
        notes.emplace_back("?: the samples have different counters, as of two devices" + left_out, NoteKind::count);
    }
    notes.insert(notes.end(), wraps_.begin(), wraps_.end());
}

void CounterDeltas::put_into(Measured& measured) {
    for (const auto& [key, track] : tracks_.tracks())
        surplus_[{key.source, track.format}] += tracks_.came_later(key.source, track) ? -1 : 1;
    look_for_doubts();
    for (const auto& [key, track] : tracks_.tracks())
        add(key, track);
    auto& counting = measured.one<rows::Counting>();
    counting.counters_read = static_cast<std::int64_t>(tracks_.tracks().size());
    const bool are_known = std::ranges::none_of(tracks_.tracks(), [](auto& one) { return one.second.has_unknown; });
    const bool has_levels = states_ > 0 || once_ > 0 || compared_ > rises_;
    if (risen_ == 0 && fallen_ == 0 && doubtful_ == 0 && (are_known || has_levels)) {
        for (const auto& [key, track] : tracks_.tracks()) {
            if (track.last > 0) add(key, track.last);
        }
        levels_ = true;
        counting.counted = "value";
        counting.levels = true;
    }
    put_notes(measured.notes);
    if (tracks_.left_out() > 0) {
        measured.notes.push_back(fmt::format("{} readings are ignored: there are more than {} counters",
                                             tracks_.left_out(), CounterTracks::max_counters));
    }
    Tables risen;
    risen.of<rows::Interval>().push_back({0, start_ns_, end_ns_});
    auto& counts = risen.of<rows::OfInterval<rows::Count>>();
    counts.is_there = true;
    for (const auto& [group, row] : rows_) {
        auto& put = counts.emplace_back();
        put.time = end_ns_;
        put.group = group;
        put.count = row.count;
        if (row.has_rate) put.per_s = row.per_s;
    }
    table::largest_first(counts);
    table::append<Tables>(measured, std::move(risen));
    if (!measured.start_epoch_ns) measured.start_epoch_ns = start_ns_;
    measured.end_epoch_ns = std::max(measured.end_epoch_ns, end_ns_);
}

}  // namespace

void put_counter_deltas(Measured& measured, const std::vector<std::string>& by) {
    const auto readings = std::exchange(measured.of<rows::Readings>(), {});
    if (!readings.empty()) CounterDeltas(readings.front().tracks, by).put_into(measured);
}

}  // namespace stapgen::kinds::counts
