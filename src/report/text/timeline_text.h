#pragma once

#include <ostream>
#include <vector>

#include "analyze/summary.h"
#include "report/model/options.h"

namespace stapgen::report {

/// Each of these records of one way: its total, when it ended (`local_time_of_day`, or s since the first block where
/// the time of day is not known), whose it was, and below it a row for each stage: when it began, how long it took, and
/// where that is in the whole. In us.
void write_timelines(std::ostream& out, const analyze::Summary& summary, const analyze::Breakdown& breakdown,
                     const std::vector<analyze::SlowRecord>& records, const Options& options);

}  // namespace stapgen::report
