// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/counter_tracks.h"

#include <algorithm>
#include <limits>

#include "base/kernel.h"
#include "base/saturate.h"

namespace stapgen::table {

namespace {

constexpr std::uint64_t half_of_32_bits = std::uint64_t{1} << 31U, all_of_32_bits = std::uint64_t{1} << 32U;

std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t max = std::numeric_limits<std::int64_t>::max();
    return a >= max || b >= max - a ? max : a + b;
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
    has_unknown = has_unknown || later.has_unknown;
    // A tool's rise stands beside no total.
    if (later.samples == 0 || (is_rise && !later.is_rise)) return;
    if (samples == 0 || is_rise != later.is_rise) {
        const bool had_unknown = has_unknown;
        *this = later;
        has_unknown = had_unknown;
        return;
    }
    if (over_ns > 0 && later.over_ns > 0) {
        last = capped_sum(last, later.last);
        base::add_saturating(over_ns, later.over_ns);
        return;
    }
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

void CounterTracks::add(const CounterReading& reading) {
    if (reading.source >= sources_.size()) {
        sources_.resize(reading.source + 1);
        samples_.resize(sources_.size());
    }
    if (reading.whose != nullptr && sources_[reading.source] != *reading.whose)
        sources_[reading.source] = *reading.whose;
    key_.name.assign(reading.name);
    key_.of.assign(reading.of);
    key_.source = reading.source;
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
    auto& of_source = samples_[reading.source];
    auto samples = of_source.find(reading.format);
    if (samples == of_source.end()) samples = of_source.emplace(reading.format, Samples{.first = reading.sample}).first;
    samples->second.end = std::max(samples->second.end, reading.sample + 1);
    track.has_unknown = track.has_unknown || reading.is_unknown;
    // A tool's rise stands beside no total.
    if (reading.is_unknown || (track.is_rise && !reading.is_rise)) return;
    if (reading.is_rise && !track.is_rise) {
        track = {.format = track.format, .first_sample = reading.sample, .has_unknown = track.has_unknown};
    }
    if (reading.part && track.last_sample == reading.sample && track.samples > 0) {
        track.last = reading.is_rise ? capped_sum(track.last, reading.value) : track.last + reading.value;
    } else {
        track.next(reading.value, base::has_32_bits(key_.name));
        // A sample without a time of its own has none.
        track.last_ns = reading.epoch_ns == track.last_ns ? std::nullopt : reading.epoch_ns;
    }
    base::add_saturating(track.over_ns, reading.over_ns);
    if (track.samples == 1) {
        track.first = track.last;
        track.first_ns = track.last_ns;
    }
    track.last_sample = reading.sample;
    track.is_rise = reading.is_rise;
    track.is_state = reading.is_state;
    track.zeros_left_out = reading.zeros_left_out;
}

bool CounterTracks::came_later(std::size_t source, const CounterTrack& track) const {
    const auto samples = samples_[source].find(track.format);
    return samples != samples_[source].end() && track.first_sample > samples->second.first;
}

/// The number here of a source of `later`, which is a new one where it is not clear.
std::size_t CounterTracks::put_source(const CounterTracks& later, std::size_t source) {
    const auto& whose = later.sources_[source];
    const auto found = find_source(sources_, whose);
    const auto is_clear = [&](std::size_t here) {
        return sources_[here] == whose || find_source(later.sources_, sources_[here]) == source;
    };
    if (!found || !is_clear(*found)) {
        sources_.push_back(whose);
        samples_.emplace_back();
        return sources_.size() - 1;
    }
    return *found;
}

CounterTracks& CounterTracks::operator+=(const CounterTracks& later) {
    std::vector<std::size_t> here;  // the number of each source of `later`
    for (std::size_t i = 0; i < later.sources_.size(); ++i)
        here.push_back(put_source(later, i));
    for (std::size_t i = 0; i < here.size(); ++i)
        sources_[here[i]].join(later.sources_[i]);
    const auto before = samples_;
    for (std::size_t i = 0; i < here.size(); ++i) {
        for (const auto& [format, samples] : later.samples_[i]) {
            const auto [found, is_new] = samples_[here[i]].try_emplace(format, samples);
            if (!is_new) base::add_saturating(found->second.end, samples.end);
        }
    }
    base::add_saturating(left_out_, later.left_out_);
    for (const auto& [of_later, track] : later.tracks_) {
        const Key key{of_later.name, of_later.of, here[of_later.source]};
        const auto known_samples = before[key.source].find(track.format);
        const auto shift = known_samples == before[key.source].end() ? 0 : known_samples->second.end;
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
        into.join(track, base::has_32_bits(key.name));
        into.last_sample = track.last_sample + shift;
    }
    return *this;
}

}  // namespace stapgen::table
