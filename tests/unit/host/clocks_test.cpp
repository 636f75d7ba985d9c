// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "host/facts.h"

using namespace stapgen::host;

namespace {
constexpr std::int64_t s = 1'000'000'000, ms = 1'000'000;
}

TEST_CASE("a wall clock that was set and a machine that was suspended are told apart") {
    const ClockOffsets before{1'700'000'000 * s, 17 * s};

    const auto set = change_of(before, {before.realtime_ns - 3607 * s, before.boottime_ns});
    CHECK(set.set_ns == -3607 * s);
    CHECK(set.suspended_ns == 0);

    const auto suspended = change_of(before, {before.realtime_ns + 13 * s, before.boottime_ns + 13 * s});
    CHECK(suspended.set_ns == 0);
    CHECK(suspended.suspended_ns == 13 * s);

    const auto both = change_of(before, {before.realtime_ns + 113 * s, before.boottime_ns + 13 * s});
    CHECK(both.set_ns == 100 * s);
    CHECK(both.suspended_ns == 13 * s);
}

TEST_CASE("what two readings of clocks differ by is no change of a clock") {
    const ClockOffsets before{1'700'000'000 * s, 17 * s};
    const auto noise = change_of(before, {before.realtime_ns + 19 * ms, before.boottime_ns - 3 * ms});
    CHECK(noise.set_ns == 22 * ms);  // the sum of both: beyond what is noise
    const auto less = change_of(before, {before.realtime_ns + 7 * ms, before.boottime_ns - 11 * ms});
    CHECK(less.set_ns == 0);
    CHECK(less.suspended_ns == 0);

    const auto here = change_of(read_clock_offsets(), read_clock_offsets());
    CHECK(here.set_ns == 0);
    CHECK(here.suspended_ns == 0);
}
