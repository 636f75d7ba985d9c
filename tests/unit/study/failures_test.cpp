// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <map>

#include "study/sentences.h"
#include "unit/analyze/summary_of.h"
#include "unit/compared.h"

using namespace stapgen::study;
using namespace stapgen::summaries;

namespace {

constexpr std::int64_t each = 101;  // connections of a second
constexpr int seconds = 31;

/// So many connections of each second fail, all of the same times.
Summary connected(const std::map<int, std::int64_t>& failed, const std::map<std::string, std::int64_t>& causes = {}) {
    Summary summary;
    summary.recipe = "connect-latency";
    summary.series = Series(3);
    for (const auto* name : {"call", "answer", "failure"})
        summary.stages.push_back({name, {}, {}});
    const auto add = [&](Block& block, std::size_t stage, std::int64_t n) {
        block.stages[stage].add(1009, n);
        summary.stages[stage].stats.add(1009, n);
    };
    for (int i = 0; i < seconds; ++i) {
        auto& block = summary.series.at(i * second + 1);
        const auto found = failed.find(i);
        const auto fail = found == failed.end() ? 0 : found->second;
        add(block, 0, each);
        add(block, 1, each - fail);
        if (fail > 0) add(block, 2, fail);
    }
    if (!causes.empty()) summary.counted = "failures";
    for (const auto& [cause, n] : causes) {
        // In two intervals.
        summary.tallies.push_back({{.group = {{"result", cause}, {"remote", "10.9.0.2:443"}}, .count = 1}, {}, 0});
        summary.tallies.push_back({{.group = {{"result", cause}, {"remote", "10.9.0.3:443"}}, .count = n - 1}, {}, 1});
    }
    summary.accounting.closed = true;
    return summary;
}

std::map<int, std::int64_t> in_each_second(std::int64_t failures) {
    std::map<int, std::int64_t> failed;
    for (int i = 0; i < seconds; ++i)
        failed[i] = failures + i % 3 - 1;
    return failed;
}

}  // namespace

TEST_CASE("failures where there were none are a regression, by cause") {
    const auto after = connected(in_each_second(5), {{"refused", 13}, {"no-answer", 142}});
    const auto comparison = compare(connected({}), after).value();
    REQUIRE(comparison.failures.size() == 3);
    const auto& all = comparison.failures[0];
    CHECK(all.cause.empty());
    CHECK(all.before == 0);
    CHECK(all.after == 154);
    CHECK(*all.before_share == 0);
    CHECK(*all.after_share == doctest::Approx(154.0 / (each * seconds)));
    REQUIRE(all.p);
    CHECK(*all.p < 0.001);
    CHECK(all.is_regression);
    CHECK(comparison.failures[1].cause == "no-answer");
    CHECK(comparison.failures[1].after == 142);
    CHECK(comparison.failures[2].cause == "refused");
    CHECK(comparison.failures[2].after == 13);
    CHECK_FALSE(comparison.failures[1].p);
    CHECK(comparison.outcome() == Outcome::regression);
    CHECK(comparison.sentence() ==
          "failures rose from 0.00 % (0) to 4.92 % (154), no-answer from 0 to 142; no stage changed significantly");
}

TEST_CASE("fewer failures are none, and neither are as many") {
    const auto many = connected(in_each_second(5)), few = connected(in_each_second(2));
    const auto less = compare(many, few).value();
    CHECK(*less.failures.front().p < 0.001);
    CHECK_FALSE(less.has_regression());
    CHECK(less.sentence().starts_with("failures fell from 4.92 % (154) to 1.95 % (61); "));
    const auto same = compare(many, many).value();
    CHECK(*same.failures.front().p == doctest::Approx(1));
    CHECK(same.outcome() == Outcome::no_regression);
    CHECK(same.sentence() == "no significant change");
    CHECK(compare(connected({}), connected({})).value().failures.empty());
    // That all is well again is a result, though a stage is on one side only.
    CHECK(compare(many, connected({})).value().outcome() == Outcome::no_regression);
}

TEST_CASE("a burst of failures, or a single one, is no rise that is known") {
    for (const auto& failed : {std::map<int, std::int64_t>{{7, 97}}, std::map<int, std::int64_t>{{7, 1}}}) {
        const auto comparison = compare(connected({}), connected(failed)).value();
        REQUIRE(comparison.failures.front().p);
        CHECK(*comparison.failures.front().p > significance);
        CHECK_FALSE(comparison.has_regression());
    }
}

TEST_CASE("a rise below the threshold is no regression, and without times nothing is tested") {
    const auto before = connected(in_each_second(40)), after = connected(in_each_second(44));
    const auto tolerant = compare(before, after, {.threshold = 0.2}).value();
    CHECK(*tolerant.failures.front().p < significance);
    CHECK_FALSE(tolerant.has_regression());
    CHECK(compare(before, after).value().has_regression());
}
