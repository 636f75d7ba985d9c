#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stapgen::decode {

/// Which of the three-letter names of English `word` begins with, counted from 1; nothing if none.
std::optional<std::int64_t> weekday_number(std::string_view word);
std::optional<std::int64_t> month_number(std::string_view word);

/// Seconds from 1970 to the begin of a day. Nothing where there is no such day, or the year is not one of 1970 to 2261:
/// nanoseconds of those fit in 64 bits.
std::optional<std::int64_t> epoch_of_day(std::int64_t year, std::int64_t month, std::int64_t day);

/// What ctime() writes, taken for UTC: neither ctime(3) nor SystemTap's ctime() say the time zone.
struct CalendarTime {
    std::int64_t epoch_s = 0;  ///< without a year in the text: of the year 2000
    bool has_year = false;
    std::size_t length = 0;  ///< of its text
};

/// Reads the beginning of a text: "Wed Mar  2 16:01:36", and " 2011" if that follows. Years as of
/// epoch_of_day(). Nothing if it is no such time.
std::optional<CalendarTime> read_ctime(std::string_view text);

}  // namespace stapgen::decode
