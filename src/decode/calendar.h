#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stapgen::decode {

/// What ctime() writes, taken for UTC: neither ctime(3) nor SystemTap's ctime() say the time zone.
struct CalendarTime {
    std::int64_t epoch_s = 0;  ///< without a year in the text: of the year 2000
    bool has_year = false;
    std::size_t length = 0;  ///< of its text
};

/// Reads the beginning of a text: "Wed Mar  2 16:01:36", and " 2011" if that follows. Years 1970 to 2261, so that
/// nanoseconds fit in 64 bits. Nothing if it is no such time.
std::optional<CalendarTime> read_ctime(std::string_view text);

}  // namespace stapgen::decode
