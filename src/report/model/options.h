#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/percentile.h"
#include "base/text.h"

namespace stapgen::report {

/// How a report is written. Each format takes of it what it can show.
struct Options {
    std::vector<analyze::Percentile> percentiles = analyze::default_percentiles();
    std::size_t top = 20;                     ///< the largest so many groups, and rows of counts
    std::size_t slowest = 5;                  ///< so many of the slowest records of each direction
    std::size_t width = base::default_width;  ///< columns of text. What does not fit is left out, or as wide as it is
    bool series = false;                      ///< text: a row for each block of time
    bool hide_benign = false;                 ///< benign drops are counted, and have no rows
    bool intervals_shown = false;             ///< each interval has been written as it closed
    std::optional<std::int64_t> interval{};   ///< this is the report of one interval, counted from 0
};

}  // namespace stapgen::report
