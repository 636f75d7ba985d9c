#pragma once

#include <ostream>
#include <span>

#include "analyze/compare.h"
#include "analyze/summary.h"
#include "report/model/options.h"

namespace stapgen::report {

/// One page in one file, to mail or attach: nothing is fetched, and its Content-Security-Policy forbids fetching.
/// All numbers are in tables; with JavaScript two charts are drawn from them. Local time zone. A part for each report.
/// What comes from the input is escaped; bytes that are no UTF-8 become U+FFFD.
void write_html(std::ostream& out, std::span<const analyze::Summary> reports, const Options& options = {});

/// The same of two runs: the changes, both in each chart, then a part for each.
void write_html(std::ostream& out, const analyze::Comparison& comparison, const analyze::Summary& before,
                const analyze::Summary& after, const Options& options = {});

}  // namespace stapgen::report
