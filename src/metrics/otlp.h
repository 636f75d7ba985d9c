// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "metrics/family.h"

/// OpenTelemetry's protocol: opentelemetry/proto/collector/metrics/v1/metrics_service.proto.
namespace stapgen::metrics {

/// At this scale no two of our bins share a bucket, so a bucket identifies its bin.
inline constexpr int otlp_scale = 9;

struct OtlpOrigin {
    Labels resource{};  ///< attributes of who sends
    std::string version{};
    std::int64_t start_ns = 0, now_ns = 0;  ///< since 1970; what is counted began at the first
};

/// An ExportMetricsServiceRequest. Sums are cumulative; histograms are exponential ones; names are those of Prometheus.
std::string otlp_request(const Families& families, const OtlpOrigin& origin);

/// What an ExportMetricsServiceResponse says was not taken.
struct OtlpRejection {
    std::int64_t points = 0;
    std::string why;  ///< may be there without points: a warning
};
OtlpRejection parse_otlp_response(std::string_view response);

}  // namespace stapgen::metrics
