// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/t_test.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace stapgen::study;

namespace {

struct Row : Tested {
    Row(std::string what, double p_value, double part = 0.2) : name(std::move(what)) { p = p_value, change = part; }
    std::string name, statistic;
};

}  // namespace

TEST_CASE("Holm: each p is multiplied by the rows that are left, and none falls below that of the row before") {
    std::vector<Row> rows{{"a", 0.04}, {"b", 0.01}, {"c", 0.03}, {"d", 0.9}};
    correct(rows, 0.05, 1);
    REQUIRE(rows.size() == 4);
    // 4 * 0.01, 3 * 0.03, 2 * 0.04 is less than that, 1 * 0.9.
    CHECK(rows[0].name + rows[1].name + rows[2].name + rows[3].name == "bcad");
    CHECK(rows[0].p == doctest::Approx(0.04));
    CHECK(rows[1].p == doctest::Approx(0.09));
    CHECK(rows[2].p == doctest::Approx(0.09));
    CHECK(rows[3].p == doctest::Approx(0.9));
}

TEST_CASE("Holm: several families in one answer multiply p, which stays at 1 at most") {
    std::vector<Row> rows{{"a", 0.004}, {"b", 0.4}};
    correct(rows, 0.05, 3);
    CHECK(rows[0].p == doctest::Approx(0.024));
    CHECK(rows[1].p == 1);
}

TEST_CASE("a row stands out below 5 % and beyond the threshold, in either direction") {
    std::vector<Row> rows{
        {"small", 0.001, 0.05}, {"slower", 0.001, 0.051}, {"faster", 0.001, -0.051}, {"unsure", 0.05}};
    correct(rows, 0.05, 1);
    for (const auto& row : rows) {
        CAPTURE(row.name);
        CHECK(row.stands_out == (row.name == "slower" || row.name == "faster"));
    }
}

TEST_CASE("p and the bounds are those of Student's distribution") {
    // With one degree of freedom it is Cauchy's: half of it is beyond 1. Its quantile of 97.5 % is 12.7062.
    CHECK(TTest(1, 1, 1).p == doctest::Approx(0.5));
    CHECK(TTest(-1, 1, 1).p == doctest::Approx(0.5));
    CHECK(TTest(0, 1, 10).p == doctest::Approx(1));
    CHECK(TTest(2.228139, 1, 10).p == doctest::Approx(0.05).epsilon(1e-6));
    const TTest tested(0.1, 0.01, 1);
    CHECK(std::log1p(tested.low) == doctest::Approx(0.1 - 0.127062).epsilon(1e-5));
    CHECK(std::log1p(tested.high) == doctest::Approx(0.1 + 0.127062).epsilon(1e-5));
}

TEST_CASE("the variance of a few hosts is drawn to that of all stages") {
    CHECK(drawn_variance(12, 4, 5) == doctest::Approx((2 * 5 + 12) / 6.0));
    CHECK(drawn_variance(0, 4, 0) == rounding_variance);
    std::vector<Row> rows{{"a", 1}, {"b", 1}, {"c", 1}};
    rows[0].statistic = rows[2].statistic = "99";
    CHECK(prior_of(rows, {3, 100, 5}, "99") == 4);
}
