// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/intervals.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/saturate.h"

namespace stapgen::kinds {

std::size_t IntervalLog::add_thing(std::size_t size) {
    things_.push_back({.size = size});
    return things_.size() - 1;
}

void IntervalLog::add(std::size_t thing, std::int64_t count) {
    auto& of = things_[thing];
    if (!std::exchange(of.is_open, true)) open_.push_back(thing);
    base::add_saturating(of.open, count);
}

void IntervalLog::close(const Interval& interval) {
    const auto place = closed_ / joined_;
    if (place == intervals_.size()) {
        intervals_.push_back(interval);
        last_interval_ = rows_.size();
    } else {
        intervals_[place].end_epoch_ns = interval.end_epoch_ns;
    }
    put_rows();
    ++closed_;
    const bool is_whole = closed_ % joined_ == 0 && intervals_.size() % 2 == 0;
    const bool is_full =
        rows_.size() > max_rows || intervals_.size() > max_intervals || size_ > base::limits::interval_key_bytes;
    if (is_whole && is_full) join_neighbours();
}

/// The rows of the open interval, into the last one.
void IntervalLog::put_rows() {
    const auto place = static_cast<std::uint32_t>(intervals_.size() - 1);
    for (const auto index : open_) {
        auto& thing = things_[index];
        if (thing.row < last_interval_ || thing.row >= rows_.size() || rows_[thing.row].thing != index) {
            thing.row = rows_.size();
            rows_.push_back({place, static_cast<std::uint32_t>(index), 0});
            size_ += thing.size;
        }
        base::add_saturating(rows_[thing.row].count, std::exchange(thing.open, 0));
        thing.is_open = false;
    }
    open_.clear();
}

void IntervalLog::join_neighbours() {
    joined_ *= 2;
    for (auto& row : rows_)
        row.interval /= 2;
    std::ranges::sort(rows_, {}, [](const Row& row) { return std::tie(row.interval, row.thing); });
    auto end = rows_.begin();
    for (const auto& row : rows_) {
        if (end != rows_.begin() && end[-1].interval == row.interval && end[-1].thing == row.thing) {
            base::add_saturating(end[-1].count, row.count);
        } else {
            *end++ = row;
        }
    }
    rows_.erase(end, rows_.end());
    size_ = 0;
    for (const auto& row : rows_)
        size_ += things_[row.thing].size;
    last_interval_ = rows_.size();
    for (std::size_t i = 0; i < intervals_.size() / 2; ++i)
        intervals_[i] = {intervals_[2 * i].start_epoch_ns, intervals_[2 * i + 1].end_epoch_ns};
    intervals_.resize(intervals_.size() / 2);
}

std::vector<IntervalLog::Row> IntervalLog::open_rows() const {
    std::vector<Row> rows;
    for (const auto thing : open_)
        rows.push_back(
            {static_cast<std::uint32_t>(intervals_.size()), static_cast<std::uint32_t>(thing), things_[thing].open});
    return rows;
}

}  // namespace stapgen::kinds
