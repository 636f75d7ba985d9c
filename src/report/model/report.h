// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "report/model/drop_advice.h"
#include "report/model/format.h"
#include "report/model/texts.h"

namespace stapgen::report {

/// A row of a table of stages or of values.
struct Row {
    const analyze::Measure* measure = nullptr;
    /// Of a stage: its part of the time of all stages of its direction and group, 0 to 1, "total" left out of that;
    /// about 1 of "total" itself. Nothing where that time is 0.
    std::optional<double> share{};
    bool is_rest = false;  ///< the groups that have no rows of their own, together: as exact as what it is made of
};
using Rows = std::vector<Row>;

/// One style for all numbers of a table, so that they line up: whole ns until a tenth of a second is among them.
Style style_of(const Rows& rows, bool is_time);
/// What the "-" instead of a percentile means: "-: not enough samples; P99 needs 368". Empty if there is none.
std::string too_few_text(const Rows& rows, const std::vector<table::Percentile>& percentiles);

using Measures = std::vector<const analyze::Measure*>;
/// Those of the whole, in the order in which each Block of the series has them.
Measures in_series(const std::vector<analyze::Measure>& measures);

/// The rows of all stages, or of all values.
struct MeasureRows {
    Rows all;     ///< as the summary has them
    Rows whole;   ///< without those that nothing went through, unless there are no others
    Rows groups;  ///< likewise, of the largest groups and then of the rest; none where there is one group only
    std::vector<analyze::Measure> rest;  ///< their group is {"other": true}
    std::size_t in_rest = 0;             ///< how many groups are in the rest
};

/// The records of one direction: where their tail comes from, and the slowest, the largest first.
struct DirectionReport {
    const analyze::Breakdown& breakdown;
    std::string sentence;
    std::optional<analyze::Breakdown::Tail> tail;
    std::vector<analyze::SlowRecord> slowest;
};

/// What a report shows, worked out once for all formats. The summary and the options must outlive it.
struct Report {
    Report(const analyze::Summary& of, const Options& shown);

    const analyze::Summary& summary;
    const Options& options;
    MeasureRows stages, values;
    bool share_is_of_direction = false;       ///< there are several directions
    std::vector<std::string> footnotes;       ///< what signs and columns of the tables of stages and values mean
    std::vector<DirectionReport> directions;  ///< those that have records
    std::string drops_title;                  ///< "total: 51 drops at 2 places and reasons", "no drops in all"
    ShownDrops drops, interval_drops;         ///< of all intervals together, and of each
    std::vector<GivenAdvice> advice;          ///< for `drops`
    std::vector<analyze::Stack> all_stacks;   ///< of all intervals together
    std::vector<analyze::Stack> stacks;       ///< of these the most frequent of each reason
    std::string stacks_title;                 ///< "Call paths, the 5 most frequent of each reason"
    std::vector<analyze::Tally> counts;       ///< of all intervals together
};

/// The percentile beyond which records are the tail.
inline constexpr double tail_percent = 99;

}  // namespace stapgen::report
