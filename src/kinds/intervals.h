// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "kinds/text_map.h"
#include "table/table.h"

namespace stapgen::kinds {

/// The span between two ticks.
struct Interval {
    std::optional<std::int64_t> start_epoch_ns;
    std::optional<std::int64_t> end_epoch_ns;  ///< nothing if the input stops before its tick
};

/// Counts of things of several kinds by interval, in bounded memory: when there would be more than `max_rows` rows or
/// `max_intervals`, or rows of more than base::limits::interval_key_bytes, neighbouring intervals become one, and later
/// ones are that long, too.
class IntervalLog {
  public:
    static constexpr std::size_t max_rows = 16384;
    static constexpr std::size_t max_intervals = 4096;

    struct Row {
        std::uint32_t interval = 0;  ///< counted from 0; that of the open one is intervals().size()
        std::uint32_t thing = 0;
        std::int64_t count = 0;
    };

    IntervalLog() = default;
    IntervalLog(const IntervalLog&) = delete;
    IntervalLog& operator=(const IntervalLog&) = delete;

    /// The number of a new thing to count: 0, 1, ... `size`: bytes of each row of it, beside the numbers.
    std::size_t add_thing(std::size_t size);

    /// Into the open interval. Stops at the largest number.
    void add(std::size_t thing, std::int64_t count);

    /// Ends the open interval and opens the next.
    void close(const Interval& interval);

    /// Of the open interval, in no order.
    [[nodiscard]] std::vector<Row> open_rows() const;
    /// Of the intervals that were closed, in no order within one.
    [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
    [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }

  private:
    struct Thing {
        std::size_t size = 0;
        std::int64_t open = 0;  ///< its count in the open interval
        bool is_open = false;
        std::size_t row = 0;  ///< in rows_, if that is one of the last interval
    };

    void put_rows();
    void join_neighbours();

    std::vector<Thing> things_;
    std::vector<std::size_t> open_;  ///< things of the open interval
    std::vector<Row> rows_;
    std::vector<Interval> intervals_;
    std::size_t closed_ = 0;         ///< how often close() was called
    std::size_t joined_ = 1;         ///< how many of them make one of intervals_
    std::size_t last_interval_ = 0;  ///< where its rows begin
    std::size_t size_ = 0;           ///< bytes of all rows
};

/// A table whose rows are counted by interval, in an IntervalLog that others share. Bounded: where there would be more
/// than `most` different rows, or `most_bytes` of what they are counted by, further ones are `other`.
class CountedRows {
  public:
    static constexpr std::size_t max_rows = 16384;

    /// `columns` as interval_columns() begins them. `other` has their cells, as all rows that are added here; those of
    /// the interval and the count are filled in.
    CountedRows(IntervalLog& log, table::Table columns, table::Row other, std::size_t most = max_rows,
                std::size_t most_bytes = base::limits::row_key_bytes)
        : log_(log), table_(std::move(columns)), other_row_(std::move(other)), most_(most), most_bytes_(most_bytes) {}

    /// The thing whose key that is; the first time it is of the row that `make` returns, or of `other`. `size`: bytes
    /// of that row, if they are more than those of the key.
    std::size_t thing_of(std::string_view key, const auto& make, std::size_t size = 0) {
        if (const auto found = things_.find(key); found != things_.end()) return found->second;
        size = std::max(size, key.size());
        if (things_.size() < most_ && size <= most_bytes_ - size_) {
            size_ += size;
            return things_.emplace(std::string(key), add_thing(make(), size)).first->second;
        }
        if (!other_) other_ = add_thing(other_row_, 0);
        return *other_;
    }
    [[nodiscard]] bool is_other(std::size_t thing) const { return thing == other_; }
    /// Into the open interval.
    void add(std::size_t thing, std::int64_t count) { log_.add(thing, count); }

    /// Of all intervals that were closed, and the open one behind them if it is wanted: each largest_first().
    [[nodiscard]] table::Table rows(bool with_open) const;
    /// Of the open interval alone, whose number is 0.
    [[nodiscard]] table::Table open_rows(std::optional<std::int64_t> end_epoch_ns) const;

  private:
    std::size_t add_thing(table::Row row, std::size_t size);
    void put(const std::vector<IntervalLog::Row>& rows, table::Table& into) const;

    IntervalLog& log_;
    table::Table table_;
    table::Row other_row_;
    std::size_t most_, most_bytes_;
    std::optional<std::size_t> other_;
    std::size_t size_ = 0;                              ///< bytes of keys
    std::unordered_map<std::size_t, table::Row> rows_;  ///< by thing
    TextMap<std::size_t> things_;                       ///< by key
};

/// What stands in front of a table by interval: when it ended, and its number. Then come `columns`.
table::Table by_interval(table::Table table);

/// A row of it: cells that are filled in, then these.
table::Row interval_row(table::Row cells);

}  // namespace stapgen::kinds
