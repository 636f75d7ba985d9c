#pragma once

#include <ostream>

#include "analyze/cost.h"

namespace stapgen::report {

/// What the probes cost, and a row for each; nothing where it was not measured.
void write_cost(std::ostream& out, const analyze::Cost& cost);

}  // namespace stapgen::report
