#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "analyze/compare.h"
#include "analyze/percentile.h"
#include "analyze/summary.h"

namespace stapgen::report {

struct HtmlOptions {
    std::vector<analyze::Percentile> percentiles = analyze::default_percentiles();
    std::size_t max_groups = 20;         ///< the largest so many; how many are not shown is said
    bool hide_benign = false;            ///< benign drops are counted, and have no rows
    std::vector<std::string> origins{};  ///< for each report where it is from: "web17, Linux 6.12"; "" if not known
};

/// One page in one file, to mail or attach: nothing is fetched, and its Content-Security-Policy forbids fetching.
/// All numbers are in tables; with JavaScript two charts are drawn from them. Local time zone. A part for each report.
/// What comes from the input is escaped; bytes that are no UTF-8 become U+FFFD.
void write_html(std::ostream& out, const std::vector<analyze::Summary>& reports, const HtmlOptions& options = {});

/// The same of two runs: the changes, both in each chart, then a part for each.
void write_html(std::ostream& out, const analyze::Comparison& comparison, const analyze::Summary& before,
                const analyze::Summary& after, const HtmlOptions& options = {});

}  // namespace stapgen::report
