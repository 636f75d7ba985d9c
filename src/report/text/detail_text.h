#pragma once

#include <ostream>

#include "analyze/summary.h"
#include "report/model/options.h"

namespace stapgen::report {

/// Parts of a text report; each writes nothing where there is nothing to show.

/// Where the tail of each way comes from, and its slowest records.
void write_breakdowns(std::ostream& out, const analyze::Summary& summary, const Options& options);

/// A row for each block of time, of the stage "total" or else of every stage.
void write_series(std::ostream& out, const analyze::Summary& summary, const Options& options);

/// Means of what has no percentiles.
void write_averages(std::ostream& out, const analyze::Summary& summary);

}  // namespace stapgen::report
