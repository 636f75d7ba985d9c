// SPDX-License-Identifier: GPL-2.0-or-later
#include <span>

#include "metrics/text.h"
#include "show/model/format.h"
#include "show/model/result_metrics.h"
#include "show/model/texts.h"

namespace stapgen::show {

namespace {

void write_openmetrics(std::ostream& out, const Reports& reports, const Options& options) {
    auto counted = options;
    counted.hide_benign = false;  // a counter counts all
    ResultMetrics all;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        all.add(reports.results(i, counted), options.top);
    }
    metrics::write_text(out, all.families(), {.buckets = options.buckets});
}

}  // namespace

/// OpenMetrics 1.0 text, with its "# EOF".
extern constexpr Format openmetrics_format{.name = "openmetrics", .write = write_openmetrics};

}  // namespace stapgen::show
