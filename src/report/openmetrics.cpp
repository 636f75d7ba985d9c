// SPDX-License-Identifier: GPL-2.0-or-later
#include <span>

#include "metrics/text.h"
#include "report/model/report.h"
#include "report/model/summary_metrics.h"

namespace stapgen::report {

namespace {

void write_openmetrics(std::ostream& out, std::span<const analyze::Summary> reports, const Options& options) {
    SummaryMetrics all;
    for (const auto& report : reports) {
        const Report rows(report, options);
        all.add(report, rows.counts);
        all.add_groups(rows);
    }
    metrics::write_text(out, all.families(), {.buckets = options.buckets});
}

}  // namespace

/// OpenMetrics 1.0 text, with its "# EOF".
extern constexpr Format openmetrics_format{.name = "openmetrics", .write = write_openmetrics};

}  // namespace stapgen::report
