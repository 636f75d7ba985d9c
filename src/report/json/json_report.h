#pragma once

#include <ostream>
#include <span>

#include "analyze/summary.h"
#include "report/model/options.h"

namespace stapgen::report {

/// Schema "stapgen.report/1", one document and a line end. Keys are never renamed; durations are in ns, times
/// in RFC 3339 UTC. What is not known is null. Bytes that are no UTF-8 become U+FFFD.
void write_json(std::ostream& out, const analyze::Summary& summary, const Options& options = {});

/// One such document, or several in one of schema "stapgen.reports/1".
void write_json(std::ostream& out, std::span<const analyze::Summary> reports, const Options& options);

/// A document in one line for each.
void write_ndjson(std::ostream& out, std::span<const analyze::Summary> reports, const Options& options = {});

}  // namespace stapgen::report
