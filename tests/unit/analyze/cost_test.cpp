// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <limits>

#include "kinds/accounting.h"

using namespace stapgen::kinds;

namespace {

Cost cost(std::int64_t hits) {
    Cost cost;
    cost.add({"kprobe.function(\"ip_rcv_core\")", hits, 1009, 70001});
    cost.add({"kernel.trace(\"kfree_skb\")", 3, 11, 13});
    cost.cycles_per_s = 2e9;
    cost.measured_ns = 500'000'000;
    cost.cpus = 2;
    return cost;
}

}  // namespace

TEST_CASE("hits and cycles of all probes add up, and are a share of a CPU's time") {
    const auto mine = cost(2003);
    CHECK(mine.hits() == 2006);
    CHECK(mine.cycles() == 2003 * 1009 + 33);
    CHECK(mine.ns(2'000'000).value() == doctest::Approx(1'000'000));
    CHECK(mine.share(2'000'000).value() == doctest::Approx(0.002));
    CHECK_FALSE(Cost().share(1));
}

TEST_CASE("several handlers of one point are one row, and a heading is none") {
    auto mine = cost(5);
    mine.add({"kernel.trace(\"kfree_skb\")", 7, 17, 19});
    mine.add({"", 3, 5, 7});
    REQUIRE(mine.probes.size() == 2);
    CHECK(mine.probes[1].hits == 10);
    CHECK(mine.probes[1].cycles == 33 + 119);
    CHECK(mine.probes[1].max_cycles == 19);
}

TEST_CASE("another run of the same clock adds up, one of another clock has no common time") {
    auto mine = cost(5);
    mine.expected_hits = 8;
    auto other = cost(11);
    other.cycles_per_s *= 1.001;
    other.expected_hits = 13;
    mine += other;
    CHECK(mine.hits() == 22);
    CHECK(mine.expected_hits == 21);
    CHECK(mine.measured_ns == 1'000'000'000);
    CHECK(mine.share(1).has_value());
    auto faster = cost(5);
    faster.cycles_per_s = 3e9;
    mine += faster;
    CHECK_FALSE(mine.share(1));
    CHECK_FALSE(mine.expected_hits);  // that of the third is not known
    Cost none;
    none += cost(5);
    CHECK(none.share(1).has_value());
}

TEST_CASE("no number of an input is too large") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    Cost mine;
    mine.add({"x", most, most, most});
    mine.add({"y", most, most, most});
    CHECK(mine.hits() == most);
    CHECK(mine.cycles() == most);
}

TEST_CASE("records of samples of several sizes are estimated, and the size is not reported") {
    Sample sample{8, 800};
    sample += {8, 160};
    CHECK(sample.one_in == 8);
    CHECK(sample.estimated == 960);
    sample += {1, 41};
    CHECK(sample.one_in == 0);
    CHECK(sample.estimated == 1001);
}
