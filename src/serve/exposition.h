// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "metrics/family.h"
#include "serve/status.h"

namespace stapgen::serve {

/// Formats for a scraper.
enum class Exposition {
    protobuf,     ///< Prometheus' protobuf, with native histograms
    openmetrics,  ///< 1.0
    text,         ///< 0.0.4
};

/// By the Accept of HTTP; the text is for everybody who asks for none of the others.
Exposition exposition_for(std::string_view accept);
std::string_view content_type_of(Exposition exposition);

/// The state of pushes.
struct PushStatus {
    bool wanted = false;
    std::int64_t done = 0, failed = 0, rejected_points = 0;
};

/// The state of serve itself, beside the recipes.
struct ServerStatus {
    std::string version, revision, kernel;
    std::int64_t start_ns = 0;  ///< since 1970
    host::ProcessUse use{};     ///< its own, without the recipes' processes
    std::size_t series = 0, max_series = 0;
    PushStatus push{};
};

metrics::Families families_of(const ServerStatus& server, std::span<const Status> recipes);

std::string written(const metrics::Families& families, Exposition exposition, std::int64_t start_ns, int native_schema);

}  // namespace stapgen::serve
