#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stapgen::base {

/// "5" (seconds), "250ms", "1.5s", "2m", "1h", "500us", "100ns". Never negative.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// For a person: three significant digits and the unit that fits, "6.57 us", "112 us", "1.20 s".
std::string format_duration(std::chrono::nanoseconds value);

}  // namespace stapgen::base
