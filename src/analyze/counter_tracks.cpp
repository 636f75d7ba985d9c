#include "analyze/counter_tracks.h"

#include <algorithm>
#include <limits>

#include "base/saturate.h"

namespace stapgen::analyze {

namespace {

constexpr std::uint64_t half_of_32_bits = std::uint64_t{1} << 31U, all_of_32_bits = std::uint64_t{1} << 32U;

std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t max = std::numeric_limits<std::int64_t>::max();
    return a >= max || b >= max - a ? max : a + b;
}

}  // namespace

bool has_32_bits(const std::string& name) {
    return name.starts_with("softnet.");
}

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
    if (samples == samples_.end()) samples = samples_.emplace(reading.format, 0).first;
    samples->second = std::max(samples->second, reading.sample + 1);
    if (reading.part && track.last_sample == reading.sample && track.samples > 0) {
        track.last += reading.value;
    } else {
        track.next(reading.value, has_32_bits(key_.first));
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
    track.zeros_left_out = reading.zeros_left_out;
}

void CounterTracks::append(const CounterTracks& later) {
    const auto before = samples_;
    for (const auto& [format, samples] : later.samples_)
        base::add_saturating(samples_[format], samples);
    base::add_saturating(left_out_, later.left_out_);
    for (const auto& [key, track] : later.tracks_) {
        const auto known_samples = before.find(track.format);
        const auto shift = known_samples == before.end() ? 0 : known_samples->second;
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
        into.join(track, has_32_bits(key.first));
        into.last_sample = track.last_sample + shift;
    }
}

}  // namespace stapgen::analyze
