// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/html/html_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/saturate.h"
#include "report/model/texts.h"

namespace stapgen::report::html {

namespace {

/// Of marks that no picture is too narrow for.
constexpr std::size_t max_time_ticks = 5;

double log_of(std::int64_t value) {
    return std::log2(static_cast<double>(std::max<std::int64_t>(1, value)));
}

std::string text_of(std::int64_t value, bool is_time) {
    if (value == 0) return "0";
    return is_time ? round_duration(value) : fmt::format("{:g}", static_cast<double>(value));
}

/// "0", "2.5 s", "3 min", "2 h".
std::string since_text(std::int64_t ns) {
    const auto seconds = static_cast<double>(ns) / 1e9;
    if (seconds >= 7200) return fmt::format("{:.3g} h", seconds / 3600);
    if (seconds >= 120) return fmt::format("{:.3g} min", seconds / 60);
    if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
    return ns == 0 ? "0" : fmt::format("{:.3g} ms", seconds * 1000);
}

/// A length of time that people count in, `ns` or longer.
std::int64_t round_step(std::int64_t ns) {
    constexpr std::int64_t second = 1'000'000'000, minute = 60 * second, hour = 60 * minute;
    constexpr std::array more{second, 2 * second, 5 * second, 10 * second, 20 * second, 30 * second,
                              minute, 2 * minute, 5 * minute, 10 * minute, 20 * minute, 30 * minute,
                              hour,   2 * hour,   6 * hour,   12 * hour,   24 * hour};
    for (std::int64_t step = 1'000'000, i = 0; step < second; step = i++ % 3 == 1 ? step / 2 * 5 : step * 2)
        if (step >= ns) return step;
    for (const auto step : more)
        if (step >= ns) return step;
    return (ns / more.back() + 1) * more.back();
}

}  // namespace

std::string round_duration(std::int64_t ns) {
    if (ns >= 1'000'000'000) return fmt::format("{:g} s", static_cast<double>(ns) / 1e9);
    if (ns >= 1'000'000) return fmt::format("{:g} ms", static_cast<double>(ns) / 1e6);
    if (ns >= 1000) return fmt::format("{:g} us", static_cast<double>(ns) / 1e3);
    return fmt::format("{} ns", ns);
}

LogScale::LogScale(std::int64_t low, std::int64_t high)
    : low_(log_of(low)), span_(std::max(1.0, log_of(high) - low_)) {}

double LogScale::at(std::int64_t value) const {
    return std::clamp((log_of(value) - low_) / span_, 0.0, 1.0);
}

std::vector<Tick> LogScale::ticks(std::size_t max_ticks, double last, bool is_time) const {
    const auto at_multiples = [&](std::initializer_list<std::int64_t> digits) {
        std::vector<Tick> ticks;
        std::int64_t power = 1;
        for (int i = 0; i < 18; ++i, power *= 10) {
            for (const auto digit : digits) {
                const double place = (log_of(digit * power) - low_) / span_;
                if (place >= 0 && place <= last) ticks.push_back({text_of(digit * power, is_time), place});
            }
        }
        return ticks;
    };
    if (auto fine = at_multiples({1, 2, 5}); fine.size() <= max_ticks) return fine;
    const auto all = at_multiples({1});
    const auto each = (all.size() + max_ticks - 1) / max_ticks;
    std::vector<Tick> shown;
    for (std::size_t i = 0; i < all.size(); i += each)
        shown.push_back(all[i]);
    return shown;
}

std::vector<Tick> linear_ticks(std::int64_t max, bool is_time) {
    std::int64_t step = 1;
    for (std::size_t i = 0; step < max / 5; ++i)
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    std::vector<Tick> ticks;
    for (std::int64_t i = 0;; ++i) {
        const auto at = static_cast<double>(i) * static_cast<double>(step) / static_cast<double>(max);
        if (at > last_tick) return ticks;
        ticks.push_back({text_of(i * step, is_time), at});
    }
}

TimeColumns::TimeColumns(const std::vector<Span>& spans) {
    for (const auto& span : spans) {
        if (spans_.empty() || span.start_ns >= spans_.back().end_ns) {
            const auto& last = spans_.empty() ? span : spans_.back();
            // A block's length of nothing is no gap: the first record of a recording need not be at its start.
            const auto length = std::max<std::int64_t>(1, base::saturating_subtract(last.end_ns, last.start_ns));
            if (base::saturating_subtract(span.start_ns, last.end_ns) >= length) gaps_.push_back(count_++);
            spans_.push_back(span);
            ++count_;
        }
        columns_.push_back(count_ - 1);
    }
}

std::vector<Tick> TimeColumns::ticks() const {
    std::vector<std::pair<std::int64_t, std::size_t>> starts;  // since the first start, and the column
    std::size_t column = 0, gap = 0;
    for (std::size_t i = 0; i < spans_.size(); ++i, ++column) {
        const bool is_after_gap = gap < gaps_.size() && gaps_[gap] == column;
        if (is_after_gap) ++column, ++gap;
        if (i == 0 || is_after_gap)
            starts.emplace_back(base::saturating_subtract(spans_[i].start_ns, spans_[0].start_ns), column);
    }
    std::vector<Tick> ticks;
    const auto add = [&](std::int64_t ns, double at) {
        // As far apart as the longest of their texts is wide on a phone.
        constexpr double room = 0.18;
        if (at <= last_tick && (ticks.empty() || at - ticks.back().at >= room)) ticks.push_back({since_text(ns), at});
    };
    if (gaps_.empty() && !spans_.empty()) {
        const auto all = std::max<std::int64_t>(1, base::saturating_subtract(spans_.back().end_ns, spans_[0].start_ns));
        const auto step = round_step(all / static_cast<std::int64_t>(max_time_ticks));
        for (std::int64_t ns = 0; ns < all; ns = base::saturating_add(ns, step))
            add(ns, static_cast<double>(ns) / static_cast<double>(all));
        return ticks;
    }
    for (const auto& [ns, place] : starts)
        add(ns, static_cast<double>(place) / static_cast<double>(count_));
    return ticks;
}

std::string TimeColumns::caption() const {
    const auto length = spans_.empty() ? 0 : spans_[0].end_ns - spans_[0].start_ns;
    return fmt::format("a column is {}{}", duration_text(length),
                       gaps_.empty() ? "" : ", a grey one the time between recordings, however long");
}

std::string rectangle(double x, double y, double width, double height) {
    return fmt::format("M{:.6g} {:.6g}h{:.6g}v{:.6g}h{:.6g}z", x, y, width, height, -width);
}

}  // namespace stapgen::report::html
