// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>
#include <limits>

#include "show/model/texts.h"

using namespace stapgen::show;

TEST_CASE("times are RFC 3339 in UTC to the nanosecond") {
    CHECK(utc_time(1795180000000000007) == "2026-11-20T13:06:40.000000007Z");
    CHECK(utc_time(0) == "1970-01-01T00:00:00.000000000Z");
    CHECK(utc_time(-1) == "1969-12-31T23:59:59.999999999Z");
    CHECK(utc_time(std::numeric_limits<std::int64_t>::max()) == "2262-04-11T23:47:16.854775807Z");
    CHECK(utc_time(std::numeric_limits<std::int64_t>::min()) == "1677-09-21T00:12:43.145224192Z");
}

TEST_CASE("people read the time of their own zone") {
    setenv("TZ", "XYZ-3:30", 1);
    tzset();
    CHECK(local_time(1795180000000000007) == "2026-11-20 16:36:40 +0330");
    CHECK(local_time_of_day(1795180000000123999) == "16:36:40.000123");
}
