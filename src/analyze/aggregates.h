// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/summary.h"
#include "decode/record.h"
#include "table/histogram.h"

namespace stapgen::analyze {

/// What a script that aggregates has printed since its last tick, put together. Memory depends on the fields and the
/// directions, not on the number of lines.
class AggregateCollector {
  public:
    /// The records of one direction whose totals are in one bin.
    struct Split {
        const decode::Schema* schema = nullptr;
        std::string direction;
        int index = 0;  ///< see schema::bins::split_per_doubling
        std::int64_t n = 0;
        std::vector<std::int64_t> sums_ns;
    };
    struct Values {
        const decode::Schema* schema = nullptr;
        std::size_t field = 0;
        table::Histogram histogram;
        std::optional<table::Histogram::Totals> totals;
    };
    struct Interval {
        std::vector<Values> values;
        std::vector<Split> splits;
        /// The least number of records that are in `splits` and missing in some of `values`: lines were
        /// lost.
        std::int64_t partial = 0;
    };

    void add(const decode::BinsLine& line);
    void add(const decode::SumLine& line);
    void add(const decode::SplitLine& line);

    [[nodiscard]] bool empty() const { return values_.empty() && splits_.empty(); }
    /// All of it; what comes next is the next interval's.
    Interval take();

  private:
    Values& values(const decode::Schema& schema, std::size_t field);

    std::map<std::pair<std::size_t, std::size_t>, Values> values_;                    ///< by schema and field
    std::map<std::tuple<std::size_t, std::string, int>, Split, std::less<>> splits_;  ///< by schema, direction and bin
};

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

    /// Sets averages and average_intervals, and notes what was joined or left out. The averages of an interval are
    /// those in ns.
    void put_into(Summary& summary) const;

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
    [[nodiscard]] AverageInterval interval(const Point* before, const Point& point) const;

    std::vector<decode::RunningMean> means_;  ///< names and units
    std::vector<Point> points_;               ///< the last one is the last line
    std::size_t lines_each_ = 1;              ///< number of lines in an interval
    std::size_t lines_in_last_ = 0;           ///< the same, for the last point
    std::int64_t forgotten_ = 0;              ///< points that are no longer kept and had to be

    std::int64_t starts_ = 0;
    std::int64_t closed_count_ = 0;             ///< of the runs that are over
    std::vector<Average::Wide> closed_halves_;  ///< likewise, twice the sum of each mean
};

}  // namespace stapgen::analyze
