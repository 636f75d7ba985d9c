#pragma once

#include <ostream>

#include "analyze/summary.h"
#include "report/model/options.h"

namespace stapgen::report {

/// The part of a text report with the tables of stages, values and groups.
void write_stages(std::ostream& out, const analyze::Summary& summary, const Options& options);

}  // namespace stapgen::report
