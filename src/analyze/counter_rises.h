#pragma once

#include <string>
#include <vector>

#include "analyze/summary.h"

namespace stapgen::analyze {

/// Turns counters that were read into tallies: how far each rose from its first sample to its last, grouped by `by` (of
/// "name" and "of"), with what does not add up as notes. Of one sample: what counters stand at. Call it once, when all
/// inputs are in the summary. Without such counters nothing changes.
void put_rises(Summary& summary, const std::vector<std::string>& by);

}  // namespace stapgen::analyze
