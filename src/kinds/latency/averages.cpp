// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/latency/averages.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/saturate.h"

namespace stapgen::kinds {

namespace {

using table::Average;

/// The most that a mean's sum may be beyond mean * count.
long double slack(std::int64_t count) {
    return count > 0 ? static_cast<long double>(count) - 1 : 0;
}

long double least_sum(std::int64_t mean, std::int64_t count) {
    return static_cast<long double>(mean) * static_cast<long double>(count);
}

long double middle_sum(std::int64_t mean, std::int64_t count) {
    return least_sum(mean, count) + slack(count) / 2;
}

/// Twice middle_sum(), which then is whole.
Average::Wide middle_halves(std::int64_t mean, std::int64_t count) {
    // So far no sum of some of them overflows, whatever the input says.
    constexpr std::int64_t max = std::int64_t{1} << 60U;
    const auto factor = std::clamp(count, -max, max);
    return Average::Wide{2} * std::clamp(mean, -max, max) * factor + std::max<std::int64_t>(factor - 1, 0);
}

bool is_time(const decode::RunningMean& mean) {
    return mean.unit == decode::RunningMean::Unit::ns;
}

}  // namespace

void Averages::add(const decode::RunningMeans& means) {
    means_.assign(means.means.begin(), means.means.end());
    closed_halves_.resize(means_.size());
    Point point{means.line, means.count, false, {}};
    for (const auto& mean : means_)
        point.values.push_back(mean.value);
    if (starts_anew(point)) {
        close_run();
        point.starts = true;
        ++starts_;
    } else if (lines_in_last_ < lines_each_) {
        point.starts = points_.back().starts;
        points_.back() = std::move(point);
        ++lines_in_last_;
        return;
    }
    points_.push_back(std::move(point));
    lines_in_last_ = 1;
    if (points_.size() > max_intervals) join_intervals();
}

bool Averages::starts_anew(const Point& point) const {
    if (points_.empty()) return true;
    const Point& last = points_.back();
    if (point.count < last.count) return true;
    for (std::size_t i = 0; i < means_.size(); ++i) {
        if (!is_time(means_[i])) continue;
        const auto max_now = least_sum(point.values[i], point.count) + slack(point.count);
        if (max_now < least_sum(last.values[i], last.count)) return true;
    }
    return false;
}

void Averages::close_run() {
    if (points_.empty()) return;
    const Point& last = points_.back();
    closed_count_ = base::saturating_add(closed_count_, last.count);
    for (std::size_t i = 0; i < means_.size(); ++i)
        table::add_halves(closed_halves_[i], middle_halves(last.values[i], last.count));
}

void Averages::join_intervals() {
    lines_each_ *= 2;
    std::vector<Point> kept;
    bool start_left_out = false;
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const bool is_last_of_run = i + 1 == points_.size() || points_[i + 1].starts;
        Point& point = points_[i];
        point.starts |= std::exchange(start_left_out, false);
        if (i % 2 == 0 && !is_last_of_run) {
            start_left_out = point.starts;
        } else {
            kept.push_back(std::move(point));
        }
    }
    // Too many new starts: the first half is given up.
    if (kept.size() > max_intervals * 3 / 4) {
        const auto half = kept.size() / 2;
        forgotten_ += static_cast<std::int64_t>(half);
        kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(half));
    }
    points_ = std::move(kept);
    lines_in_last_ = lines_each_;
}

void Averages::put_interval(const Point* before, const Point& point,
                            std::vector<rows::AveragesOfInterval>& into) const {
    const auto count_before = before != nullptr ? before->count : 0;
    const auto count = point.count - count_before;
    const auto n = static_cast<long double>(count);
    auto& averages = into.emplace_back(rows::AveragesOfInterval{std::ssize(into), point.line, count}).averages;
    for (std::size_t i = 0; i < means_.size(); ++i) {
        if (!is_time(means_[i]) || count == 0) continue;
        const auto sum_before = before != nullptr ? middle_sum(before->values[i], count_before) : 0;
        const auto sum = middle_sum(point.values[i], point.count) - sum_before;
        Average average{.n = count};
        average.mean = static_cast<double>(sum / n);
        average.error = static_cast<double>((slack(point.count) + slack(count_before)) / 2 / n);
        averages.push_back({std::string(means_[i].name), average});
    }
}

void Averages::put_into(Measured& measured) const {
    if (points_.empty()) return;
    auto& whole = measured.of<rows::AverageOf>();
    auto& intervals = measured.of<rows::AveragesOfInterval>();
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const Point& point = points_[i];
        if (!point.starts && i == 0) continue;  // what was before it is forgotten
        put_interval(point.starts ? nullptr : &points_[i - 1], point, intervals);
    }
    const Point& last = points_.back();
    const auto n = base::saturating_add(closed_count_, last.count);
    for (std::size_t i = 0; i < means_.size(); ++i) {
        Average average{.is_time = is_time(means_[i])};
        if (is_time(means_[i])) {
            average.n = n;
            average.halves = closed_halves_[i];
            table::add_halves(average.halves, middle_halves(last.values[i], last.count));
            average.error_halves = n > 1 ? n : 0;
            if (n > 0) average.divide();
        } else {
            constexpr double thousandth = 0.001;
            average.mean = static_cast<double>(last.values[i]) * thousandth;
            average.error = thousandth;
        }
        whole.push_back({std::string(means_[i].name), average});
    }
    if (starts_ > 1)
        measured.notes.emplace_back(fmt::format("the script was started {} times", starts_), NoteKind::count);
    if (lines_each_ > 1)
        measured.notes.emplace_back(fmt::format("an interval is that of {} lines", lines_each_), NoteKind::count);
    if (forgotten_ > 0)
        measured.notes.emplace_back(fmt::format("the first {} intervals are not shown", forgotten_), NoteKind::count);
}

}  // namespace stapgen::kinds
