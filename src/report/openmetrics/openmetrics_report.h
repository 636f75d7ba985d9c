#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

#include "analyze/summary.h"
#include "report/model/options.h"

namespace stapgen::report {

/// The upper ends of the histograms' buckets in ns, inclusive, the same in every run: four to each doubling from 1 us
/// to 68.7 s. Each is one below a border of bins.h, so that the counts are exact.
const std::vector<std::int64_t>& bucket_ends();

/// OpenMetrics 1.0 text (github.com/prometheus/OpenMetrics), with its "# EOF". Histograms of stages in seconds,
/// counters of drops, the account and all that was lost. Reports of one recipe add up. Counts below zero, which an
/// interval's account may have, are written as 0.
void write_openmetrics(std::ostream& out, std::span<const analyze::Summary> reports, const Options& options = {});

}  // namespace stapgen::report
