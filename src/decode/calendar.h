// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stapgen::decode {

inline constexpr std::int64_t second_ns = 1'000'000'000;

/// A time as ctime() writes it, taken for UTC: neither ctime(3) nor SystemTap's ctime() say the time zone.
struct CalendarTime {
    std::int64_t epoch_s = 0;  ///< without a year in the text: of the year 2000
    bool has_year = false;
    std::size_t length = 0;  ///< of its text
};

/// Reads the beginning of a text: "Wed Mar  2 16:01:36", and " 2011" if that follows. Nothing if
/// it is no such time, or not of the years 1970 to 2261: nanoseconds of those fit in 64 bits.
std::optional<CalendarTime> read_ctime(std::string_view text);

struct SampleTime {
    std::int64_t epoch_ns = 0;
    bool knows_zone = false;  ///< else it was taken for UTC
};

/// A line that is a time and nothing else, as date(1) prints it in English (with or without AM and PM, of any locale's
/// order), in ISO 8601 (date -Is, --rfc-3339) or by +%s and +%s.%N; and the head of watch(1), "Every 2.0s: ... Tue Nov
/// 17 00:26:51 2020". Years as above.
std::optional<SampleTime> read_sample_time(std::string_view line);

/// Seconds since midnight of "15:02:01" and "03:02:01 PM". Nothing if it is anything else.
std::optional<std::int64_t> read_time_of_day(std::string_view text);

}  // namespace stapgen::decode
