// SPDX-License-Identifier: GPL-2.0-or-later
#include "when/condition.h"

#include <doctest/doctest.h>

using namespace stapgen;
using when::Statistic;

namespace {

std::string refusal(std::string_view text) {
    const auto condition = when::parse_condition(text);
    REQUIRE_FALSE(condition);
    CHECK(condition.error().kind == base::ErrorKind::bad_input);
    CHECK_FALSE(condition.error().hint.empty());
    return condition.error().what;
}

schema::Header header() {
    schema::Header header;
    header.recipe = "mine";
    header.schemas.push_back(
        *schema::parse_schema("rx\ttime:time\tip-tcp:stage\ttcp-app:stage\ttcp-app.stack:stage\tsegments:value", 5));
    header.schemas.push_back(*schema::parse_schema("failure\tresult:text,key\tfailures:count", 5));
    return header;
}

std::string unfit(std::string_view text) {
    const auto fits = when::check_condition(when::parse_condition(text).value(), header(), {"wire-segments"});
    return fits ? "" : fits.error().what + " | " + fits.error().hint;
}

}  // namespace

TEST_CASE("a condition is as it is typed, with its window") {
    const auto p99 = when::parse_condition("tcp-app.run-queue  p99.9 > 5ms over 3s").value();
    CHECK(p99.subject == "tcp-app.run-queue");
    CHECK(p99.statistic == Statistic::percentile);
    CHECK(p99.percent == 99.9);
    CHECK(p99.above == 5'000'000);
    CHECK(p99.is_duration);
    CHECK(p99.window == std::chrono::seconds(3));
    CHECK(p99.text() == "tcp-app.run-queue p99.9 > 5ms over 3s");
    CHECK(p99.value_text(8'123'000) == "8.12 ms");
    CHECK(when::parse_condition("drv-ip max > 1.5us").value().text() == "drv-ip max > 1.5us over 1s");
    CHECK(when::parse_condition("drv-ip max > 17ns").value().text() == "drv-ip max > 17ns over 1s");
    const auto lost = when::parse_condition("lost.evicted rise > 1009 over 90s").value();
    CHECK(lost.statistic == Statistic::rise);
    CHECK(lost.text() == "lost.evicted rise > 1009 over 90s");
    CHECK(lost.value_text(12345) == "12,345");
}

TEST_CASE("what is no condition is refused with its column") {
    CHECK(refusal("") == "--when '', column 1: there is no condition");
    CHECK(refusal("tcp-app") == "--when 'tcp-app', column 8: '' is neither a percentile (p99), max nor rise");
    CHECK(refusal("tcp-app p100 > 5ms") ==
          "--when 'tcp-app p100 > 5ms', column 9: 'p100' is neither a percentile (p99), max nor rise");
    for (const auto* word : {"p0", "p-1", "pnan", "p1e1", "p", "P99", "p99x", "p99.99999999", "mean", "min"})
        CHECK(refusal(std::string("tcp-app ") + word + " > 5ms").find("column 9: ") != std::string::npos);
    CHECK(refusal("tcp-app p99 < 5ms") == "--when 'tcp-app p99 < 5ms', column 13: '>' is missing");
    CHECK(refusal("tcp-app p99>5ms") ==
          "--when 'tcp-app p99>5ms', column 9: 'p99>5ms' is neither a percentile (p99), max nor rise");
    CHECK(refusal("tcp-app p99 > 5parsecs") ==
          "--when 'tcp-app p99 > 5parsecs', column 15: '5parsecs' is neither a time with its unit nor a whole number");
    CHECK(refusal("tcp-app p99 > -5").find("column 15: nothing is below 0") != std::string::npos);
    CHECK(refusal("tcp-app p99 > 5ms for 1s").find("column 19: 'for' instead of 'over' and a time") !=
          std::string::npos);
    for (const auto* window : {"", "0", "1", "9ms", "11m", "x"})
        CHECK(refusal(std::string("tcp-app p99 > 5ms over ") + window).find("a window is from 10ms to 10m") !=
              std::string::npos);
    CHECK(refusal("tcp-app p99 > 5ms over 1s and").find("column 27: 'and' is one word too many") != std::string::npos);
    CHECK(refusal("tcp\x1b[31m p99 > 5ms").find('\x1b') == std::string::npos);
    CHECK(refusal(std::string(1000, 'x')) == "--when: the condition is longer than 256 bytes");
}

TEST_CASE("a condition is checked against what the records have") {
    CHECK(unfit("tcp-app p99 > 5ms").empty());
    CHECK(unfit("tcp-app.stack max > 5ms").empty());
    CHECK(unfit("segments p50 > 3").empty());
    CHECK(unfit("tcp-ap p99 > 5ms") ==
          "--when 'tcp-ap p99 > 5ms over 1s': mine has no stage 'tcp-ap' | did you mean 'tcp-app'?");
    CHECK(unfit("tcp-app p99 > 5").find("a stage takes a time") != std::string::npos);
    CHECK(unfit("segments p50 > 3ms").find("it is a number without a unit") != std::string::npos);
    for (const auto* counted :
         {"lost", "lost.evicted", "incomplete.unread", "failure", "failure.refused", "wire-segments"})
        CHECK(unfit(std::string(counted) + " rise > 0").empty());
    CHECK(unfit("tcp-app rise > 0").find("mine counts no 'tcp-app'") != std::string::npos);
    CHECK(unfit("lost rise > 5ms").find("a count rises by a number, not by a time") != std::string::npos);
}
