// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/breakdown.h"

#include <doctest/doctest.h>

#include <array>

using namespace stapgen::table;

namespace {

void add(Breakdown& breakdown, std::int64_t a, std::int64_t b) {
    const std::array stages{a, b};
    const std::int64_t total = (a < 0 ? 0 : a) + (b < 0 ? 0 : b);
    if (breakdown.add(total, stages)) {
        SlowRecord record;
        record.total_ns = total;
        record.time_ns = a;
        breakdown.keep(std::move(record));
    }
}

/// 1,009 records of 3 + 7 us, and 11 of 5 + 703 us.
Breakdown with_tail(std::size_t keep = 3) {
    Breakdown breakdown("rx", {"drv-ip", "tcp-app"}, keep);
    for (int i = 0; i < 1009; ++i)
        add(breakdown, 3000, 7000);
    for (int i = 0; i < 11; ++i)
        add(breakdown, 5000, 703'000 + i * 4096);
    return breakdown;
}

}  // namespace

TEST_CASE("the tail comes from the stage that made it") {
    const auto tail = with_tail().tail(95);
    REQUIRE(tail);
    CHECK(tail->n_slow == 11);
    CHECK(tail->n_rest == 1009);
    REQUIRE(tail->shares.size() == 2);
    const auto& driver = tail->shares[0];
    const auto& app = tail->shares[1];
    CHECK(driver.stage == "drv-ip");
    CHECK(driver.slow_mean_ns == 5000);
    CHECK(driver.rest_mean_ns == 3000);
    CHECK(driver.rest == doctest::Approx(0.3));
    CHECK(app.rest == doctest::Approx(0.7));
    CHECK(app.slow_mean_ns == 703'000 + 5 * 4096);
    CHECK(app.slow == doctest::Approx(723'480.0 / 728'480));
    CHECK(app.of_excess == doctest::Approx(716'480.0 / 718'480));
    CHECK(driver.of_excess + app.of_excess == doctest::Approx(1));
}

TEST_CASE("a part is no time beside its stage") {
    Breakdown breakdown("tx", {"app-tcp", "app-tcp.nagle", "qdisc"}, 0);
    const auto add = [&](std::int64_t nagle) {
        breakdown.add(11 + nagle + 3, std::array<std::int64_t, 3>{11 + nagle, nagle > 0 ? nagle : -1, 3});
    };
    for (int i = 0; i < 1009; ++i)
        add(0);
    for (int i = 0; i < 11; ++i)
        add(40'009);
    const auto tail = breakdown.tail(95);
    REQUIRE(tail);
    CHECK(tail->slow_mean_ns == 40'023);
    CHECK(tail->rest_mean_ns == 14);
    REQUIRE(tail->shares.size() == 3);
    CHECK(tail->shares[1].slow_mean_ns == 40'009);
    CHECK(tail->shares[1].of_excess == doctest::Approx(1));
    CHECK(tail->shares[0].of_excess == doctest::Approx(1));
    CHECK(breakdown.sum_ns(1) == 11 * 40'009);
}

TEST_CASE("all time of a stage, also of what was added up, and none where it was not seen") {
    auto breakdown = with_tail();
    CHECK(breakdown.sum_ns(0) == 1009 * 3000 + 11 * 5000);
    CHECK(breakdown.sum_ns(1) == 1009 * 7000 + 11 * 703'000 + 55 * 4096);
    breakdown += with_tail();
    add(breakdown, -1, 13);
    CHECK(breakdown.sum_ns(0) == 2 * (1009 * 3000 + 11 * 5000));
    CHECK(Breakdown("tx", {"qdisc"}, 3).sum_ns(0) == 0);
}

TEST_CASE("no tail where n is too small for the percentile, or nothing is above it") {
    Breakdown few("", {"a", "b"}, 3);
    for (int i = 0; i < 367; ++i)
        add(few, 3000, i * 101);
    CHECK_FALSE(few.tail(99));
    add(few, 3000, 5);
    CHECK(few.tail(99));
    Breakdown alike("", {"a", "b"}, 3);
    for (int i = 0; i < 1009; ++i)
        add(alike, 3001, 5003);
    CHECK_FALSE(alike.tail(99));
}

TEST_CASE("a stage that was not seen adds nothing") {
    Breakdown breakdown("", {"a", "b"}, 1);
    for (int i = 0; i < 1009; ++i)
        add(breakdown, -1, 2003);
    for (int i = 0; i < 7; ++i)
        add(breakdown, 100'003, -1);
    const auto tail = breakdown.tail(90);
    REQUIRE(tail);
    CHECK(tail->shares[0].rest_mean_ns == 0);
    CHECK(tail->shares[1].slow_mean_ns == 0);
    CHECK(tail->shares[0].of_excess > 1);
}

TEST_CASE("the slowest are kept, the largest first, of equal ones the earlier") {
    auto breakdown = with_tail();
    const auto slowest = breakdown.slowest();
    REQUIRE(slowest.size() == 3);
    CHECK(slowest[0].total_ns == 5000 + 703'000 + 10 * 4096);
    CHECK(slowest[2].total_ns == 5000 + 703'000 + 8 * 4096);
    Breakdown alike("", {"a", "b"}, 2);
    for (int i = 1; i <= 5; ++i)
        add(alike, i, 1009 - i);
    CHECK(alike.slowest()[0].time_ns == 1);
    CHECK(alike.slowest()[1].time_ns == 2);
    breakdown.shift(1'000'003);
    CHECK(breakdown.slowest()[0].time_ns == 1'005'003);
}

TEST_CASE("none of the slowest is kept where none is wanted") {
    CHECK(with_tail(0).slowest().empty());
}

TEST_CASE("breakdowns of parts add up to that of the whole") {
    Breakdown whole("", {"a", "b"}, 7), odd = whole, even = whole;
    std::int64_t value = 1;
    for (int i = 0; i < 2003; ++i) {
        value = value * 48271 % 2147483647;
        add(whole, value % 100'003, value % 7919);
        add(i % 2 == 0 ? even : odd, value % 100'003, value % 7919);
    }
    odd += even;
    CHECK(odd.total().n() == 2003);
    CHECK(odd.slowest() == whole.slowest());
    const auto expected = whole.tail(99), got = odd.tail(99);
    REQUIRE(expected);
    REQUIRE(got);
    CHECK(got->n_slow == expected->n_slow);
    CHECK(got->shares[0].slow_mean_ns == expected->shares[0].slow_mean_ns);
    CHECK(got->shares[1].of_excess == expected->shares[1].of_excess);
}
