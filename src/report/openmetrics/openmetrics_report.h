#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

#include "analyze/summary.h"

namespace stapgen::report {

struct OpenMetricsOptions {
    std::size_t max_groups = 20;  ///< the largest so many; the others together have the label other="true"
};

/// The upper ends of the histograms' buckets in ns, inclusive, the same in every run: four to each doubling from 1 us
/// to 68.7 s. Each is one below a border of bins.h, so that the counts are exact.
const std::vector<std::int64_t>& bucket_ends();

/// OpenMetrics 1.0 text (github.com/prometheus/OpenMetrics), with its "# EOF". Histograms of stages in seconds,
/// counters of drops, the account and all that was lost. Reports of one recipe add up. Counts below zero, which an
/// interval's account may have, are written as 0.
void write_openmetrics(std::ostream& out, std::span<const analyze::Summary> reports,
                       const OpenMetricsOptions& options = {});

}  // namespace stapgen::report
