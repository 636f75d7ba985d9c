#pragma once

#include <ostream>
#include <span>

#include "analyze/summary.h"
#include "report/model/options.h"

namespace stapgen::report {

/// For a person and for a ticket: tables in one unit (us), where the tail comes from, the slowest, the accounting, and
/// a WARNING for all that is missing. What is empty is left out. Local time zone. Control characters of process names
/// are made visible.
void write_text(std::ostream& out, const analyze::Summary& summary, const Options& options = {});

/// The same of several, a blank line between.
void write_text(std::ostream& out, std::span<const analyze::Summary> reports, const Options& options);

}  // namespace stapgen::report
