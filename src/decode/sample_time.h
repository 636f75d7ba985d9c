#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stapgen::decode {

struct SampleTime {
    std::int64_t epoch_ns = 0;
    bool knows_zone = false;  ///< else it was taken for UTC
};

/// A line that is a time and nothing else, as date(1) prints it in English (with or without AM and PM, of any locale's
/// order), in ISO 8601 (date -Is, --rfc-3339) or by +%s and +%s.%N; and the head of watch(1), "Every 2.0s: ... Tue Nov
/// 17 00:26:51 2020". Years 1970 to 2261.
std::optional<SampleTime> read_sample_time(std::string_view line);

}  // namespace stapgen::decode
