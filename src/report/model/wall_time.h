#pragma once

#include <cstdint>
#include <string>

namespace stapgen::report {

/// RFC 3339 in UTC with ns: "2026-11-20T13:09:01.123456789Z".
std::string utc_time(std::int64_t epoch_ns);

/// For a person, in the local time zone: "2026-11-20 14:09:01 +0100".
std::string local_time(std::int64_t epoch_ns);

/// "14:09:01.123456", in the local time zone.
std::string local_time_of_day(std::int64_t epoch_ns);

/// "17.000101 s": of a clock that does not tell the time of day.
std::string seconds_text(std::int64_t ns);

}  // namespace stapgen::report
