#pragma once

#include <optional>
#include <ostream>
#include <vector>

#include "analyze/percentile.h"
#include "analyze/summary.h"

namespace stapgen::report {

struct JsonOptions {
    std::vector<analyze::Percentile> percentiles = analyze::default_percentiles();
    bool one_line = false;
    std::optional<std::int64_t> interval{};  ///< it is the report of this interval, counted from 0
    bool hide_benign = false;                ///< benign drops are counted, and not in `drops`
};

/// Schema "stapgen.report/1", one document and a line end. Keys are never renamed; durations are in ns, times
/// in RFC 3339 UTC. What is not known is null. Bytes that are no UTF-8 become U+FFFD.
void write_json(std::ostream& out, const analyze::Summary& summary, const JsonOptions& options = {});

}  // namespace stapgen::report
