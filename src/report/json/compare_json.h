#pragma once

#include <ostream>

#include "analyze/compare.h"

namespace stapgen::report {

/// Schema "stapgen.compare/1", one document and a line end. Keys are never renamed; durations are in ns, changes are
/// parts (0.05 is 5 %). What is not known is null. See docs/reading-the-numbers.md for the keys.
void write_json(std::ostream& out, const analyze::Comparison& comparison);

/// The same, a line for the whole and then one for each change.
void write_ndjson(std::ostream& out, const analyze::Comparison& comparison);

/// The changes: a line of names, which are the keys of JSON, then a line for each. RFC 4180, but for the line ends.
void write_csv(std::ostream& out, const analyze::Comparison& comparison);

}  // namespace stapgen::report
