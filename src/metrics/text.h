// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <ostream>

#include "metrics/family.h"

namespace stapgen::metrics {

struct TextStyle {
    bool openmetrics = true;  ///< 1.0, with its "# EOF"; else Prometheus' text format 0.0.4
    int buckets_per_doubling = 2;
    std::optional<double> created_s{};  ///< since 1970: when what is counted began; only OpenMetrics can say it
};

/// github.com/prometheus/OpenMetrics. Families without samples are left out.
void write_text(std::ostream& out, const Families& families, const TextStyle& style);

}  // namespace stapgen::metrics
