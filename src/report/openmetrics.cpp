// SPDX-License-Identifier: GPL-2.0-or-later
#include <span>

#include "metrics/text.h"
#include "report/model/result_metrics.h"
#include "report/model/results.h"

namespace stapgen::report {

namespace {

void write_openmetrics(std::ostream& out, std::span<const analyze::Summary> reports, const Options& options) {
    auto counted = options;
    counted.hide_benign = false;  // a counter counts all
    ResultMetrics all;
    for (const auto& report : reports) {
        auto results = results_of(report, counted);
        auto groups = table::largest_groups(results.at("stages"), options.top);
        groups.name = "group_stages";
        results.tables.push_back(std::move(groups));
        all.add(results);
    }
    metrics::write_text(out, all.families(), {.buckets = options.buckets});
}

}  // namespace

/// OpenMetrics 1.0 text, with its "# EOF".
extern constexpr Format openmetrics_format{.name = "openmetrics", .write = write_openmetrics};

}  // namespace stapgen::report
