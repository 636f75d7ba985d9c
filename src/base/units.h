// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stapgen::base {

/// Meanings of a number without a unit: everybody means seconds, or nobody can know.
enum class BareNumber { seconds, refused };

/// "250ms", "1.5s", "2m", "1h", "500us", "100ns", "5" (seconds, or refused); "0" needs no unit. Never negative.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text, BareNumber bare = BareNumber::seconds);

/// The wall clock, ns since 1970.
std::int64_t now_epoch_ns();

/// For a person: three significant digits and the unit that fits, "6.57 us", "112 us", "1.20 s".
std::string format_duration(std::chrono::nanoseconds value);

/// Bytes: "1000B", "64MB", "1.5GiB"; kB, MB and GB are powers of 1000; K, M, G, KiB, MiB and GiB of 1024, as GNU
/// coreutils have them. A number without a unit is refused, but 0.
Result<std::uint64_t> parse_size(std::string_view text);

/// "5%" or "5" as 0.05; 0 or more.
Result<double> parse_percent(std::string_view text);

}  // namespace stapgen::base
