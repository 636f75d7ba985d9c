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

/// Of the open interval, into the last one.
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

std::size_t CountedRows::add_thing(table::Row row, std::size_t size) {
    const auto thing = log_.add_thing(size);
    rows_.emplace(thing, std::move(row));
    return thing;
}

void CountedRows::put(const std::vector<IntervalLog::Row>& rows, table::Table& into) const {
    const auto time = into.place_of("time"), interval = into.place_of("interval"), count = into.place_of("count");
    const auto& intervals = log_.intervals();
    for (const auto& [number, thing, n] : rows) {
        const auto found = rows_.find(thing);
        if (found == rows_.end()) continue;
        auto& row = into.rows.emplace_back(found->second);
        if (number < intervals.size()) row[time] = table::value_of(intervals[number].end_epoch_ns);
        row[interval] = std::int64_t{number};
        row[count] = n;
    }
}

table::Table CountedRows::rows(bool with_open) const {
    auto table = table_;
    put(log_.rows(), table);
    if (with_open) put(log_.open_rows(), table);
    largest_first(table);
    return table;
}

table::Table CountedRows::open_rows(std::optional<std::int64_t> end_epoch_ns) const {
    auto table = table_;
    put(log_.open_rows(), table);
    for (auto& row : table.rows) {
        row[table.place_of("time")] = table::value_of(end_epoch_ns);
        row[table.place_of("interval")] = std::int64_t{0};
    }
    largest_first(table);
    return table;
}

table::Table by_interval(table::Table table) {
    using table::Meet, table::Type;
    table.scope = table::Scope::intervals;
    table.columns.insert(
        table.columns.begin(),
        {{"time", Type::time, Meet::largest, false, table::In::all, {.place = 1, .heading = "ENDED", .is_head = true}},
         {"interval", Type::count, Meet::goes_on}});
    return table;
}

table::Row interval_row(table::Row cells) {
    cells.insert(cells.begin(), 2, {});
    return cells;
}

}  // namespace stapgen::kinds
