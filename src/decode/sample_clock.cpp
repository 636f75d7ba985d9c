// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/sample_clock.h"

#include <algorithm>
#include <cstdlib>

namespace stapgen::decode {

namespace {

/// sysstat's timer takes a sample every 10 minutes, to a tenth of that.
constexpr std::int64_t max_length_s = 660;

/// A timer is not exact.
std::int64_t tolerance(std::int64_t length_s) {
    return length_s / 10;
}

}  // namespace

void SampleClock::advance(std::int64_t second_of_day) {
    constexpr std::int64_t day_s = 86400;
    if (!now_) {
        now_ = second_of_day;
        return;
    }
    auto step = (second_of_day - *now_) % day_s;
    if (step > day_s / 2) step -= day_s;
    if (step <= -day_s / 2) step += day_s;
    *now_ += step;
}

void SampleClock::begin(std::int64_t second_of_day) {
    advance(second_of_day);
    is_below_heading_ = true;
}

std::optional<std::int64_t> SampleClock::length(std::int64_t second_of_day) {
    const auto before = now_;
    advance(second_of_day);
    if (before == now_ && !is_below_heading_) return length_;
    const auto last_shown = shown_;
    shown_ = before ? std::optional(*now_ - *before) : std::nullopt;
    length_.reset();
    if (shown_ && *shown_ > 0 && *shown_ <= max_length_s) {
        // Rows that are left out make the next sample look longer, and never shorter.
        const bool is_usual = *shown_ <= longest_known_ + tolerance(longest_known_);
        const bool is_as_last = last_shown && std::abs(*shown_ - *last_shown) <= tolerance(*shown_);
        if (is_below_heading_ || is_usual || is_as_last) length_ = shown_;
    }
    longest_known_ = std::max(longest_known_, length_.value_or(0));
    is_below_heading_ = false;
    return length_;
}

}  // namespace stapgen::decode
