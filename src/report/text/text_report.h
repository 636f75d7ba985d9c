#pragma once

#include <cstddef>
#include <ostream>
#include <vector>

#include "analyze/percentile.h"
#include "analyze/summary.h"
#include "base/text.h"

namespace stapgen::report {

struct TextOptions {
    std::vector<analyze::Percentile> percentiles = analyze::default_percentiles();
    bool intervals = true;        ///< drops and counts: a part for each interval before the total
    bool total = true;            ///< drops and counts: the total over the intervals
    std::size_t max_groups = 20;  ///< the largest so many; the others together are the rows "rest"
    std::size_t width = 0;     ///< columns of the terminal; 0: 80. What does not fit is left out, or as wide as it is
    std::size_t slowest = 5;   ///< so many of the slowest records of each way
    bool series = false;       ///< a row for each block of time
    bool hide_benign = false;  ///< benign drops are counted, and have no rows
};

inline std::size_t text_width(const TextOptions& options) {
    return options.width == 0 ? base::default_width : options.width;
}

/// For a person and for a ticket: tables in one unit (us), where the tail comes from, the slowest, the accounting, and
/// a WARNING for all that is missing. What is empty is left out. Local time zone. Control characters of process names
/// are made visible.
void write_text(std::ostream& out, const analyze::Summary& summary, const TextOptions& options = {});

}  // namespace stapgen::report
