// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/html/html_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/saturate.h"
#include "show/model/texts.h"

namespace stapgen::show::html {

namespace {

/// Of marks that no picture is too narrow for.
constexpr std::size_t max_time_ticks = 5;

/// "0.5 ms", "20 us", of 1, 2 or 5 times a power of ten.
std::string round_duration(std::int64_t ns) {
    if (ns >= 1'000'000'000) return fmt::format("{:g} s", static_cast<double>(ns) / 1e9);
    if (ns >= 1'000'000) return fmt::format("{:g} ms", static_cast<double>(ns) / 1e6);
    if (ns >= 1000) return fmt::format("{:g} us", static_cast<double>(ns) / 1e3);
    return fmt::format("{} ns", ns);
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

/// 1, 2 or 5 times a power of ten times `unit`, and no less than `least`.
std::int64_t round_number(std::int64_t least, std::int64_t unit = 1) {
    auto number = unit;
    for (std::size_t i = 0; number < least; ++i)
        number = i % 3 == 1 ? number / 2 * 5 : number * 2;
    return number;
}

/// A length of time that people count in, `ns` or longer.
std::int64_t round_step(std::int64_t ns) {
    constexpr std::int64_t second = 1'000'000'000, minute = 60 * second, hour = 60 * minute;
    constexpr std::array more{second, 2 * second, 5 * second, 10 * second, 20 * second, 30 * second,
                              minute, 2 * minute, 5 * minute, 10 * minute, 20 * minute, 30 * minute,
                              hour,   2 * hour,   6 * hour,   12 * hour,   24 * hour};
    if (ns <= second) return round_number(ns, second / 1000);
    for (const auto step : more)
        if (step >= ns) return step;
    return (ns / more.back() + 1) * more.back();
}

}  // namespace

double log_of(std::int64_t value) {
    return std::log2(static_cast<double>(std::max<std::int64_t>(1, value)));
}

void add_tick(std::vector<Tick>& ticks, Tick tick, double room) {
    if (tick.at <= last_tick && (ticks.empty() || tick.at - ticks.back().at >= room)) ticks.push_back(std::move(tick));
}

LogScale::LogScale(std::int64_t low, std::int64_t high)
    : low_(log_of(low)), span_(std::max(1.0, log_of(high) - low_)) {}

double LogScale::at(std::int64_t value) const {
    return std::clamp((log_of(value) - low_) / span_, 0.0, 1.0);
}

std::string LogScale::formula(bool is_time) const {
    return fmt::format("log {:.6g} {:.6g}{}", low_, span_, is_time ? " ns" : "");
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
    const auto step = round_number(max / 5);
    std::vector<Tick> ticks;
    for (std::int64_t i = 0;; ++i) {
        const auto at = static_cast<double>(i) * static_cast<double>(step) / static_cast<double>(max);
        if (at > last_tick) return ticks;
        ticks.push_back({text_of(i * step, is_time), at});
    }
}

TimeColumns::TimeColumns(const std::vector<Span>& spans) {
    for (const auto& span : spans) {
        if (count_ == 0 || span.start_ns >= last_.end_ns) {
            // Less than a column's length is no gap: the first record of a recording need not be at its start.
            const auto length = std::max<std::int64_t>(1, base::saturating_subtract(last_.end_ns, last_.start_ns));
            const bool is_first = count_ == 0;
            const bool is_gap = !is_first && base::saturating_subtract(span.start_ns, last_.end_ns) >= length;
            if (is_first) first_ = span;
            if (is_gap) gaps_.push_back(count_++);
            if (is_first || is_gap) starts_.emplace_back(span.start_ns, count_);
            last_ = span;
            ++count_;
        }
        columns_.push_back(count_ - 1);
    }
}

std::vector<Tick> TimeColumns::ticks() const {
    // As far apart as the longest of their texts is wide on a phone.
    constexpr double room = 0.18;
    std::vector<Tick> ticks;
    if (gaps_.empty() && count_ > 0) {
        const auto all = std::max<std::int64_t>(1, base::saturating_subtract(last_.end_ns, first_.start_ns));
        const auto step = round_step(all / static_cast<std::int64_t>(max_time_ticks));
        for (std::int64_t ns = 0; ns < all; ns = base::saturating_add(ns, step))
            add_tick(ticks, {since_text(ns), static_cast<double>(ns) / static_cast<double>(all)}, room);
        return ticks;
    }
    for (const auto& [start_ns, column] : starts_)
        add_tick(ticks,
                 {since_text(base::saturating_subtract(start_ns, first_.start_ns)),
                  static_cast<double>(column) / static_cast<double>(count_)},
                 room);
    return ticks;
}

std::optional<double> TimeColumns::place_of(std::int64_t ns) const {
    const auto length = std::max<std::int64_t>(1, base::saturating_subtract(first_.end_ns, first_.start_ns));
    for (std::size_t i = 0; i < starts_.size(); ++i) {
        const auto [start_ns, column] = starts_[i];
        const auto end = i + 1 < starts_.size() ? starts_[i + 1].second - 1 : count_;
        const auto place = static_cast<double>(column) +
                           static_cast<double>(base::saturating_subtract(ns, start_ns)) / static_cast<double>(length);
        if (ns >= start_ns && place <= static_cast<double>(end)) return place;
    }
    return std::nullopt;
}

std::string TimeColumns::formula() const {
    if (!gaps_.empty()) return {};
    return fmt::format("linear 0 {} ns", base::saturating_subtract(last_.end_ns, first_.start_ns));
}

std::string TimeColumns::caption() const {
    return fmt::format("a column is {}{}", duration_text(first_.end_ns - first_.start_ns),
                       gaps_.empty() ? "" : ", a grey one the time between recordings, however long");
}

std::string path_of(const std::vector<Step>& steps) {
    std::string path;
    double end = -1;
    for (const auto& [from, to, height] : steps) {
        if (from - end > 1e-6) path += fmt::format("{}M{:.2f} 100", path.empty() ? "" : "V100", from * 100);
        path += fmt::format("V{:.2f}H{:.2f}", 100 - height * 100, to * 100);
        end = to;
    }
    return path.empty() ? path : path + "V100";
}

Shape grid_of(const Plot& plot) {
    Shape grid{"grid", {}};
    for (const auto& tick : plot.x)
        grid.path += fmt::format("M{:.5g} 0V100", tick.at * 100);
    for (const auto& tick : plot.y)
        grid.path += fmt::format("M0 {:.5g}H100", 100 - tick.at * 100);
    return grid;
}

std::string rectangle(double x, double y, double width, double height) {
    return fmt::format("M{:.6g} {:.6g}h{:.6g}v{:.6g}h{:.6g}z", x, y, width, height, -width);
}

}  // namespace stapgen::show::html
