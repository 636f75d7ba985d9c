// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "decode/record.h"
#include "kinds/measured.h"
#include "rows/latency.h"

namespace stapgen::kinds {

/// Means since the start, turned into the means of the intervals between their lines. With a sum S and a count C since
/// the start, a line has floor(S / C), so that S is one of C numbers; its middle is taken. Two lines give the
/// interval's mean, (S2 - S1) / (C2 - C1), and (C2 + C1 - 2) / (2 (C2 - C1)) as its error. A count or a sum that falls
/// is a new start of the script. What is not in ns has a count of its own that is not printed: it has no interval
/// means, and of several starts only the last one's mean. Memory is bounded: where there would be more than
/// `max_intervals`, two become one.
class Averages {
  public:
    static constexpr std::size_t max_intervals = 2048;

    void add(const decode::RunningMeans& means);

    /// Puts the averages of the whole and of intervals, and notes what was joined or left out. Those of an interval are
    /// in ns.
    void put_into(Measured& measured) const;

  private:
    /// One line.
    struct Point {
        std::int64_t line = 0;
        std::int64_t count = 0;
        bool starts = false;  ///< nothing is before it
        std::vector<std::int64_t> values;
    };

    [[nodiscard]] bool starts_anew(const Point& point) const;
    void close_run();
    void join_intervals();
    void put_interval(const Point* before, const Point& point, std::vector<rows::AveragesOfInterval>& into) const;

    std::vector<decode::RunningMean> means_;  ///< names and units
    std::vector<Point> points_;               ///< the last one is the last line
    std::size_t lines_each_ = 1;              ///< number of lines in an interval
    std::size_t lines_in_last_ = 0;           ///< the same, for the last point
    std::int64_t forgotten_ = 0;              ///< points that are no longer kept and had to be

    std::int64_t starts_ = 0;
    std::int64_t closed_count_ = 0;                    ///< of the runs that are over
    std::vector<table::Average::Wide> closed_halves_;  ///< likewise, twice the sum of each mean
};

}  // namespace stapgen::kinds
