#pragma once

#include <ostream>

#include "analyze/compare.h"

namespace stapgen::report {

/// For a person and for a ticket: the sentence, a table (us), what the signs in it mean, and warnings.
void write_text(std::ostream& out, const analyze::Comparison& comparison);

}  // namespace stapgen::report
