// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "metrics/family.h"

namespace stapgen::metrics {

struct ProtobufStyle {
    int schema = 5;               ///< of native histograms, -4 to 8
    std::int64_t created_ns = 0;  ///< since 1970: when what is counted began
};

/// io.prometheus.client.MetricFamily of each family, delimited. Histograms are native, and have classic buckets, two to
/// a doubling, for a scraper that asked for protobuf for another reason.
std::string prometheus_protobuf(const Families& families, const ProtobufStyle& style);

}  // namespace stapgen::metrics
