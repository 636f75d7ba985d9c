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

#include "decode/record.h"
#include "table/histogram.h"

namespace stapgen::kinds {

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

}  // namespace stapgen::kinds
