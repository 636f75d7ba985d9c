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
#include "rows/of_interval.h"
#include "table/merge.h"

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

/// Rows that are counted by interval, in an IntervalLog that others share. Bounded: where there would be more than
/// `most` different rows, or `most_bytes` of what they are counted by, further ones are `other`.
template <class Row>
class CountedRows {
  public:
    static constexpr std::size_t max_rows = 16384;
    using Rows = table::TableOf<rows::OfInterval<Row>>;

    /// Counts of rows are filled in, `other` among them.
    CountedRows(IntervalLog& log, Row other, std::size_t most = max_rows,
                std::size_t most_bytes = base::limits::row_key_bytes)
        : log_(log), other_row_(std::move(other)), most_(most), most_bytes_(most_bytes) {}

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
    [[nodiscard]] Rows rows(bool with_open) const {
        Rows all;
        put(log_.rows(), all);
        if (with_open) put(log_.open_rows(), all);
        return sorted(std::move(all));
    }
    /// Of the open interval alone, whose number is 0.
    [[nodiscard]] Rows open_rows(std::optional<std::int64_t> end_epoch_ns) const {
        Rows all;
        put(log_.open_rows(), all);
        for (auto& row : all) {
            row.time = end_epoch_ns;
            row.interval = 0;
        }
        return sorted(std::move(all));
    }

  private:
    std::size_t add_thing(Row row, std::size_t size) {
        const auto thing = log_.add_thing(size);
        rows_.emplace(thing, std::move(row));
        return thing;
    }
    void put(const std::vector<IntervalLog::Row>& counted, Rows& into) const {
        const auto& intervals = log_.intervals();
        for (const auto& [number, thing, n] : counted) {
            const auto found = rows_.find(thing);
            if (found == rows_.end()) continue;
            auto& row = into.emplace_back(rows::OfInterval<Row>{found->second});
            if (number < intervals.size()) row.time = intervals[number].end_epoch_ns;
            row.interval = number;
            row.count = n;
        }
    }
    static Rows sorted(Rows all) {
        table::largest_first(all);
        all.is_there = true;
        return all;
    }

    IntervalLog& log_;
    Row other_row_;
    std::size_t most_, most_bytes_;
    std::optional<std::size_t> other_;
    std::size_t size_ = 0;                       ///< bytes of keys
    std::unordered_map<std::size_t, Row> rows_;  ///< by thing
    TextMap<std::size_t> things_;                ///< by key
};

}  // namespace stapgen::kinds
