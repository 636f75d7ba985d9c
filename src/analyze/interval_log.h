#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/summary.h"

namespace stapgen::analyze {

/// Counts of things of several kinds by interval, in bounded memory: when there would be more than `max_rows` rows or
/// `max_intervals`, neighbouring intervals become one, and later ones are that long, too.
class IntervalLog {
  public:
    static constexpr std::size_t max_rows = 16384;
    static constexpr std::size_t max_intervals = 4096;

    struct Row {
        std::size_t interval = 0;  ///< counted from 0; that of the open one is intervals().size()
        std::size_t kind = 0;
        std::int64_t count = 0;
    };

    IntervalLog() = default;
    IntervalLog(const IntervalLog&) = delete;
    IntervalLog& operator=(const IntervalLog&) = delete;

    /// The number of a new kind: 0, 1, ...
    std::size_t add_kind();

    /// Into the open interval. Stops at the largest number.
    void add(std::size_t kind, std::int64_t count);

    /// Ends the open interval and opens the next.
    void close(const Interval& interval);

    /// Of the open interval, in no order.
    [[nodiscard]] std::vector<Row> open_rows() const;
    /// Of the intervals that were closed, in no order within one.
    [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
    [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }

  private:
    struct Kind {
        std::int64_t open = 0;  ///< its count in the open interval
        bool is_open = false;
        std::size_t row = 0;  ///< in rows_, if that is one of the last interval
    };

    void join_neighbours();

    std::vector<Kind> kinds_;
    std::vector<std::size_t> open_;  ///< kinds of the open interval
    std::vector<Row> rows_;
    std::vector<Interval> intervals_;
    std::size_t closed_ = 0;         ///< how often close() was called
    std::size_t joined_ = 1;         ///< so many of them are one of intervals_
    std::size_t last_interval_ = 0;  ///< where its rows begin
};

}  // namespace stapgen::analyze
