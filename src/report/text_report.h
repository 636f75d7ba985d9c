#pragma once

#include <cstddef>
#include <ostream>
#include <vector>

#include "analyze/percentile.h"
#include "analyze/summary.h"

namespace stapgen::report {

struct TextOptions {
    std::vector<analyze::Percentile> percentiles = analyze::default_percentiles();
    bool intervals = true;        ///< drops: a part for each interval before the total
    bool total = true;            ///< drops: the total over the intervals
    std::size_t max_groups = 20;  ///< the largest so many; how many are not shown is said
};

/// For a person and for a ticket: tables in one unit (us), the accounting, and a WARNING for all that is
/// missing. Local time zone. Control characters of process names are made visible.
void write_text(std::ostream& out, const analyze::Summary& summary, const TextOptions& options = {});

}  // namespace stapgen::report
