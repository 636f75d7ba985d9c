// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <boost/math/distributions/binomial.hpp>

#include "table/histogram.h"

using namespace stapgen::table;

TEST_CASE("percentiles keep the spelling and the order of the user") {
    const auto percentiles = parse_percentiles("99.90, 50,2.5").value();
    REQUIRE(percentiles.size() == 3);
    CHECK(percentiles[0].text == "99.90");
    CHECK(percentiles[0].percent == doctest::Approx(99.9));
    CHECK(percentiles[1].text == "50");
    CHECK(percentiles[2].percent == doctest::Approx(2.5));
}

TEST_CASE("what is no percentile is refused") {
    for (const char* wrong : {"", "50,", "0", "100", "101", "-1", "p99", "99%", "nan", "inf", "1e1", "50,50.0"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_percentiles(wrong));
    }
}

TEST_CASE("a percentile is stated from the known number of values on") {
    CHECK(values_needed(50) == 6);
    CHECK(values_needed(90) == 36);
    CHECK(values_needed(99) == 368);
    CHECK(values_needed(99.9) == 3688);
    CHECK(values_needed(1) == 368);
    CHECK_FALSE(confidence_ranks(0, 50));
    CHECK_FALSE(confidence_ranks(367, 99));
    CHECK(confidence_ranks(368, 99));
    CHECK_FALSE(confidence_ranks(3687, 99.9));
    CHECK(confidence_ranks(3688, 99.9));
}

TEST_CASE("the confidence ranks leave at most 2.5 % on either side, and no narrower ones would do") {
    for (const double percent : {1.0, 50.0, 90.0, 99.0, 99.9}) {
        for (const std::int64_t n : {6, 7, 36, 37, 367, 368, 1009, 3688, 100003}) {
            const auto ranks = confidence_ranks(n, percent);
            CAPTURE(percent);
            CAPTURE(n);
            CHECK(ranks.has_value() == (n >= values_needed(percent)));
            if (!ranks) continue;
            const boost::math::binomial below(static_cast<double>(n), percent / 100);
            const auto at_most = [&below](std::int64_t k) {
                return k < 0 ? 0.0 : boost::math::cdf(below, static_cast<double>(k));
            };
            CHECK(ranks->low >= 1);
            CHECK(ranks->high <= n);
            CHECK(at_most(ranks->low - 1) <= 0.025);
            CHECK(at_most(ranks->low) > 0.025);
            CHECK(at_most(ranks->high - 1) >= 0.975);
            CHECK(at_most(ranks->high - 2) < 0.975);
        }
    }
}

TEST_CASE("the rank of a percentile is the smallest with enough values at or below it") {
    CHECK(nearest_rank(1009, 50) == 505);
    CHECK(nearest_rank(1009, 99) == 999);
    CHECK(nearest_rank(1000, 99.9) == 999);
    CHECK(nearest_rank(1000, 50) == 500);
    CHECK(nearest_rank(1001, 50) == 501);
    CHECK(nearest_rank(1, 50) == 1);
    CHECK(nearest_rank(1'000'000'007, 99.9) == 999'000'007);
}
