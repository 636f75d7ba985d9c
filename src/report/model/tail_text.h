#pragma once

#include <string>

#include "analyze/breakdown.h"

namespace stapgen::report {

/// Where the tail comes from, in one sentence for a person: how much longer the records above that percentile take
/// than the others, and the stages that hold 80 % of the difference (three at most, else that none stands out), each
/// with its part of their time and of the others'. Says so where there are too few records or none is above. Empty
/// without records. No line end, no control characters.
std::string tail_sentence(const analyze::Breakdown& breakdown, double percent = 99);

}  // namespace stapgen::report
