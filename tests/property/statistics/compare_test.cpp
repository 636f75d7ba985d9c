// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/compare.h"

#include <doctest/doctest.h>

#include "rounds.h"
#include "simulated.h"
#include "unit/compared.h"

using namespace stapgen::summaries;
using namespace stapgen::study;

namespace {

bool is_told(const Change& change) {
    return change.verdict == Verdict::slower || change.verdict == Verdict::faster;
}

struct Outcomes {
    int runs = 0, any_change = 0;            ///< of all runs, those that report anything
    int tests = 0, intervals_without_0 = 0;  ///< of all single intervals
};

/// Comparisons of two recordings of the same.
Outcomes a_against_a(const Plan& plan, std::size_t recordings = 1) {
    const int runs = rounds(200);
    Outcomes outcomes{runs};
    std::uint64_t seed = 1;
    for (int run = 0; run < runs; ++run) {
        std::vector<Summary> before, after;
        for (std::size_t i = 0; i < recordings; ++i) {
            before.push_back(simulate(plan, ++seed));
            after.push_back(simulate(plan, ++seed));
        }
        const auto comparison = compare(before, after).value();
        if (std::ranges::any_of(comparison.changes, is_told)) ++outcomes.any_change;
        for (const auto& change : comparison.changes) {
            if (!change.p) continue;
            ++outcomes.tests;
            if (*change.low > 0 || *change.high < 0) ++outcomes.intervals_without_0;
        }
    }
    MESSAGE(outcomes.any_change, " of ", outcomes.runs, " comparisons tell a change; ", outcomes.intervals_without_0,
            " of ", outcomes.tests, " intervals are without 0");
    return outcomes;
}

/// All rows of one comparison together: at most one comparison in twenty reports any.
void check_rate(const Outcomes& outcomes) {
    REQUIRE(outcomes.tests > 15 * outcomes.runs);
    CHECK(outcomes.any_change <= at_most(outcomes.runs, 0.05));
    // Those of a stage have their values in common.
    const int stages = 4 * outcomes.runs;
    CHECK(outcomes.intervals_without_0 * stages <= outcomes.tests * at_most(stages, 0.05));
    CHECK(outcomes.intervals_without_0 > 0);  // intervals that always hold 0 would say nothing
}

}  // namespace

TEST_CASE("A against A: at most 5 % of the comparisons find a change, and 5 % of the intervals miss 0") {
    check_rate(a_against_a({.seconds = 61, .per_second = 211}));
}

TEST_CASE("A against A, short recordings of few values") {
    check_rate(a_against_a({.seconds = 13, .per_second = 601}));
}

TEST_CASE("A against A, half of the values in bursts") {
    check_rate(a_against_a({.seconds = 127, .per_second = 53, .load_spread = 1}));
}

TEST_CASE("A against A where each second is like the one before it") {
    // Neighbouring seconds are correlated by 0.8: what happens is over after some 9 seconds.
    check_rate(a_against_a({.seconds = 181, .per_second = 101, .correlation = 0.8, .speed_spread = 0.1}));
}

TEST_CASE("A against A where recordings differ by a tenth, five for each side") {
    check_rate(a_against_a({.seconds = 5, .per_second = 809, .recording_spread = 0.1}, 5));
}

TEST_CASE("a 5 % shift of p99 in one stage is found in 80 % of the comparisons, and no other stage is named") {
    const Plan plan{.seconds = 240, .per_second = 1000};
    Plan shifted = plan;
    shifted.tail_shift = 0.05;
    const int runs = rounds(100);
    int found = 0, others = 0, covered = 0, tested_median = 0;
    for (int run = 0; run < runs; ++run) {
        const auto seed = static_cast<std::uint64_t>(2 * run + 1);
        const auto comparison = compare(simulate(plan, seed), simulate(shifted, seed + 1)).value();
        bool other = false;
        for (const auto& change : comparison.changes) {
            if (change.stage != "stage1") {
                other = other || is_told(change);
            } else if (change.statistic == "99") {
                if (change.verdict == Verdict::slower) ++found;
                if (*change.low <= 0.05 && 0.05 <= *change.high) ++covered;
            } else if (change.statistic == "50" && is_told(change)) {
                ++tested_median;
            }
        }
        if (other) ++others;
    }
    MESSAGE("found ", found, ", the interval held 5 % ", covered, ", p50 named ", tested_median,
            ", another stage named ", others, " of ", runs);
    CHECK(found >= at_least(runs, 80));
    CHECK(covered >= at_least(runs, 90));
    CHECK(tested_median <= at_most(runs, 0.05));
    CHECK(others <= at_most(runs, 0.05));
}
