#pragma once

#include <ostream>

#include "analyze/summary.h"
#include "report/model/options.h"

namespace stapgen::report {

/// The part of a text report that tells of drops: a heading and a table for each interval, then the total and what its
/// rows mean.
void write_drops(std::ostream& out, const analyze::Summary& summary, const Options& options);

}  // namespace stapgen::report
