// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "has.h"
#include "show/model/texts.h"
#include "study/compare.h"

using namespace stapgen::study;

namespace {

Change change(const char* stage, const char* statistic, double before, double after, Verdict verdict, double p) {
    Change result{stage, statistic, 4003, 5003, before, after, after / before - 1, {}, {}, {}, verdict, false};
    result.low = *result.change - 0.02;
    result.high = *result.change + 0.03;
    result.p = p;
    result.is_regression = verdict == Verdict::slower && *result.change > 0.05;
    return result;
}

Comparison slower() {
    Comparison comparison;
    comparison.recipe = "rx-latency";
    comparison.threshold = 0.05;
    comparison.before = {1, 17, 2'000'000'000};
    comparison.after = {2, 29, 1'000'000'000};
    comparison.changes = {change("drv-ip", "50", 4001, 4003, Verdict::same, 1),
                          change("ip-tcp", "50", 5003, 5803, Verdict::slower, 0.0011),
                          change("ip-tcp", "99", 9307, 29107, Verdict::slower, 0.00001)};
    return comparison;
}

}  // namespace

TEST_CASE("slower and faster stages are both named, at most three of each") {
    auto comparison = slower();
    comparison.changes.push_back(change("tcp-app", "mean", 8009, 4003, Verdict::faster, 0.003));
    for (const char* stage : {"a", "b", "c"})
        comparison.changes.push_back(change(stage, "mean", 100, 111, Verdict::slower, 0.01));
    const auto sentence = comparison.sentence();
    CHECK(sentence.starts_with("ip-tcp is slower: p99 +213 %"));
    CHECK(sentence.find("; and 1 more stages; tcp-app is faster: mean -50.0 %") != std::string::npos);
}

TEST_CASE("no change found is not the same as nothing tested") {
    Comparison comparison;
    comparison.changes = {change("drv-ip", "50", 4001, 4003, Verdict::same, 1)};
    CHECK(comparison.outcome() == Outcome::no_regression);
    comparison.changes[0].verdict = Verdict::too_few;
    comparison.changes[0].p.reset();
    CHECK(comparison.outcome() == Outcome::none);
    // Two of ten blocks of 5 s; after has enough.
    comparison.before = {.recordings = 1, .blocks = 2, .block_ns = 5'000'000'000, .usable = 2, .needed = 10};
    comparison.after = {.recordings = 1, .blocks = 17, .block_ns = 1'000'000'000, .usable = 17, .needed = 10};
    const auto says = [&](std::string_view what) { return has(comparison.sentence(), what); };
    CHECK(says("before has 2 of 10 blocks, record 40 s"));
    CHECK_FALSE(says("after"));
    // Uneven ones count as fewer, and it takes as many more of them.
    comparison.after = {.recordings = 1, .blocks = 40, .block_ns = 1'000'000'000, .usable = 7.9, .needed = 10};
    CHECK(says("after has 7.9 of 10 blocks, record 11 s"));
    comparison.by_recording = true;
    comparison.before = {.recordings = 5, .blocks = 5, .usable = 3, .needed = 4};
    comparison.after.usable = 10;
    CHECK(says("before has 3 of 4 recordings"));
    comparison.is_one_sided = true;
    comparison.only_before = {"ip-tcp", "tcp-app"};
    CHECK(says("only before has ip-tcp, tcp-app"));
    comparison.is_one_sided = false;
    comparison.changes[0].verdict = Verdict::untested;
    CHECK(says("whole run's values"));
}
