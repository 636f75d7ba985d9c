// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/units.h"

#include <doctest/doctest.h>

using namespace stapgen::base;
using namespace std::chrono_literals;

TEST_CASE("durations are read with their unit, seconds without one") {
    CHECK(parse_duration("5").value() == 5s);
    CHECK(parse_duration("250ms").value() == 250ms);
    CHECK(parse_duration("1.5s").value() == 1500ms);
    CHECK(parse_duration("2m").value() == 2min);
    for (const char* wrong : {"", "s", "5x", "-1", "nan", "inf", "1e30"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_duration(wrong));
    }
}

TEST_CASE("a bare number is no duration where nobody can know its unit") {
    CHECK(parse_duration("500us", BareNumber::refused).value() == 500us);
    CHECK(parse_duration("0", BareNumber::refused).value() == 0s);
    for (const char* bare : {"500", "0.5", "5."}) {
        CAPTURE(bare);
        const auto refused = parse_duration(bare, BareNumber::refused);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().what == "'" + std::string(bare) + "' has no unit");
    }
    CHECK(parse_duration("500", BareNumber::refused).error().hint == "write 500us, 500ms or 500s");
}

TEST_CASE("durations are shown with three digits and the unit that fits") {
    CHECK(format_duration(999ns) == "999 ns");
    CHECK(format_duration(6570ns) == "6.57 us");
    CHECK(format_duration(112448ns) == "112 us");
    CHECK(format_duration(1200ms) == "1.20 s");
    CHECK(format_duration(-20ms) == "-20.0 ms");
}

TEST_CASE("sizes are read with their unit, and none is refused") {
    CHECK(parse_size("1009B").value() == 1009);
    CHECK(parse_size("0").value() == 0);
    CHECK(parse_size("16M").value() == parse_size("16MiB").value());
    CHECK(parse_size("3K").value() == 3072);
    CHECK(parse_size("16").error().what == "'16' has no unit");
    CHECK(parse_size("16").error().hint == "write 16kB, 16MB or 16MiB");
    CHECK(parse_size("64MB").value() == 64'000'000);
    CHECK(parse_size("1.5kB").value() == 1500);
    CHECK(parse_size("3GiB").value() == 3'221'225'472);
    for (const char* wrong : {"", "MB", "5mb", "-1", "nan", "1e30"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_size(wrong));
    }
}

TEST_CASE("a percentage has its sign or none, and is no less than 0") {
    CHECK(parse_percent("5%").value() == doctest::Approx(0.05));
    CHECK(parse_percent(" 2.5 % ").value() == doctest::Approx(0.025));
    CHECK(parse_percent("0").value() == 0);
    for (const auto* wrong : {"", "%", "-1", "5%%", "x", "1e3", "inf", "nan", "5 percent"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_percent(wrong));
    }
}
