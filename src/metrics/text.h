// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <ostream>

#include "metrics/buckets.h"

namespace stapgen::metrics {

struct TextStyle {
    bool openmetrics = true;                ///< 1.0, with its "# EOF"; else Prometheus' text format 0.0.4
    std::size_t buckets = scraped_buckets;  ///< at most, of a histogram: classic_ends()
    std::optional<double> created_s{};      ///< since 1970: when what is counted began; only OpenMetrics can say it
};

/// github.com/prometheus/OpenMetrics. Families without samples are left out.
void write_text(std::ostream& out, const Families& families, const TextStyle& style);

}  // namespace stapgen::metrics
