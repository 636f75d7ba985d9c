#pragma once

#include <ostream>
#include <span>
#include <vector>

#include "analyze/summary.h"
#include "report/model/options.h"

namespace stapgen::report {

/// One table (RFC 4180, UTF-8, but for lines that end with LF alone, as awk and cut want them) with one number in each
/// row, so that columns stay the same whatever the percentiles:
///
///     report,recipe,kind,name,module,reason,time_ns,KEY...,statistic,value,benign
///
/// `report` counts the reports from 1; KEY... are the keys of the groups of all of them, with "group_" before one that
/// is called as another column. `benign` is true or false of a drop. What does not apply or is not known is an empty
/// cell. `statistic` has the unit in its name. Text from the input that a spreadsheet would take for a formula has an
/// apostrophe in front; control characters are made visible, what is no UTF-8 becomes U+FFFD.
void write_csv(std::ostream& out, std::span<const analyze::Summary> reports, const Options& options = {});

}  // namespace stapgen::report
