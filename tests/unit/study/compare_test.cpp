// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <initializer_list>
#include <random>

#include "study/sentences.h"
#include "unit/analyze/summary_of.h"
#include "unit/compared.h"

using namespace stapgen::study;
using namespace stapgen::summaries;

namespace {

/// Values between 0.5 and 1.5 of `typical`, 101 in each of so many seconds.
Summary recorded(std::initializer_list<std::int64_t> typical, int seconds, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Summary summary;
    summary.recipe = "rx-latency";
    summary.series = Series(typical.size());
    for (const auto value : typical)
        summary.stages.push_back({"of" + std::to_string(value % 10), {}, {}});
    for (int i = 0; i < seconds; ++i) {
        auto& block = summary.series.at(i * second + 1);
        std::size_t stage = 0;
        for (const auto value : typical) {
            for (int k = 0; k < 101; ++k) {
                const auto drawn = value / 2 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(value));
                block.stages[stage].add(drawn);
                summary.stages[stage].stats.add(drawn);
            }
            ++stage;
        }
    }
    summary.accounting.closed = true;
    return summary;
}

const Change& change_of(const Comparison& comparison, std::string_view stage, std::string_view statistic) {
    for (const auto& change : comparison.changes) {
        if (change.stage == stage && change.statistic == statistic) return change;
    }
    FAIL("no such row");
    return comparison.changes.front();
}

std::string refusal(const Summary& before, const Summary& after) {
    const auto comparison = compare(before, after);
    REQUIRE_FALSE(comparison);
    CHECK(comparison.error().kind == stapgen::base::ErrorKind::bad_input);
    CHECK_FALSE(comparison.error().hint.empty());
    return comparison.error().what;
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("one slower stage is a regression, the other stays as it is") {
    const auto comparison = compare(recorded({2001, 3002}, 29, 1), recorded({2001, 4502}, 31, 2)).value();
    CHECK(comparison.recipe == "rx-latency");
    CHECK(comparison.before.blocks == 29);
    CHECK(comparison.after.blocks == 31);
    CHECK(comparison.after.block_ns == second);
    REQUIRE(comparison.changes.size() == 10);
    CHECK(comparison.changes[0].stage == "of1");
    CHECK(comparison.changes[0].statistic == "mean");
    CHECK(comparison.changes[9].statistic == "99.9");

    const auto& slower = change_of(comparison, "of2", "90");
    CHECK(slower.verdict == Verdict::slower);
    CHECK(slower.is_regression);
    CHECK(slower.n_before == 29 * 101);
    CHECK(slower.n_after == 31 * 101);
    CHECK(*slower.change == doctest::Approx(0.5).epsilon(0.03));
    CHECK(*slower.low < *slower.change);
    CHECK(*slower.high > *slower.change);
    CHECK(*slower.low > 0.45);
    CHECK(*slower.high < 0.55);
    CHECK(*slower.p < 0.001);
    CHECK(change_of(comparison, "of1", "90").verdict == Verdict::same);
    CHECK(change_of(comparison, "of2", "99.9").verdict == Verdict::too_few);
    CHECK_FALSE(change_of(comparison, "of2", "99.9").p);
    CHECK(comparison.has_regression());
    CHECK(comparison.warnings.empty());
}

TEST_CASE("a change below the threshold is reported, but is no regression, and neither is a faster stage") {
    const auto before = recorded({3001}, 30, 1), after = recorded({4501}, 30, 2);
    const auto tolerant = compare(before, after, {.threshold = 0.6}).value();
    CHECK(change_of(tolerant, "of1", "50").verdict == Verdict::slower);
    CHECK_FALSE(tolerant.has_regression());
    const auto back = compare(after, before).value();
    CHECK(change_of(back, "of1", "50").verdict == Verdict::faster);
    CHECK(*change_of(back, "of1", "50").change == doctest::Approx(-1.0 / 3).epsilon(0.03));
    CHECK_FALSE(back.has_regression());
}

TEST_CASE("the same input gives the same answer") {
    const auto before = recorded({3001}, 23, 1), after = recorded({3031}, 23, 2);
    const auto one = compare(before, after).value(), other = compare(before, after).value();
    CHECK(change_of(one, "of1", "90").p == change_of(other, "of1", "90").p);
    CHECK(change_of(one, "of1", "90").low == change_of(other, "of1", "90").low);
    const auto itself = compare(before, before).value();
    CHECK(change_of(itself, "of1", "mean").p == 1);
}

TEST_CASE("the more rows are tested, the more it takes") {
    const auto before = recorded({3001}, 23, 1), after = recorded({3061}, 23, 2);
    const auto alone = compare(before, after, {.percentiles = {{"50", 50}}}).value();
    const auto many = compare(before, after, {.percentiles = {{"50", 50}, {"20", 20}, {"30", 30}, {"40", 40}}}).value();
    const auto &one = change_of(alone, "of1", "mean"), &of_five = change_of(many, "of1", "mean");
    CHECK(one.low == of_five.low);  // an interval is of its own row alone
    CHECK(*of_five.p > *one.p);
}

TEST_CASE("fewer than ten blocks prove nothing") {
    const auto few = compare(recorded({3001}, 9, 1), recorded({9001}, 90, 2)).value();
    for (const auto& change : few.changes)
        CHECK(change.verdict == Verdict::too_few);
    CHECK(change_of(few, "of1", "50").change);
    CHECK_FALSE(change_of(few, "of1", "50").low);
    CHECK_FALSE(few.has_regression());
    CHECK(few.outcome() == Outcome::none);
    CHECK(few.before.needed == 10);
    CHECK(few.before.usable == doctest::Approx(9));
    CHECK(*few.before.missing_ns() == doctest::Approx(second));
    CHECK_FALSE(few.after.missing_ns());
    const auto enough = compare(recorded({3001}, 10, 1), recorded({9001}, 90, 2)).value();
    CHECK(change_of(enough, "of1", "50").verdict == Verdict::slower);
    CHECK(enough.after.blocks == 23);  // 90, then 45: neighbours are joined
    CHECK(enough.after.block_ns == 4 * second);
}

TEST_CASE("values that are all in a few blocks count as few blocks") {
    auto before = recorded({3001}, 40, 1);
    auto& burst = before.series.at(7 * second + 1).stages[0];
    for (int i = 0; i < 100'003; ++i) {
        burst.add(3001 + i % 7);
        before.stages[0].stats.add(3001 + i % 7);
    }
    const auto comparison = compare(before, recorded({9001}, 40, 2)).value();
    CHECK(change_of(comparison, "of1", "50").verdict == Verdict::too_few);
}

TEST_CASE("from five recordings on each is a block, so that what differs between them counts") {
    // Each recording is steady; their level goes up and down by a third.
    std::vector<Summary> before, after;
    for (const std::int64_t level : {3001, 4001, 3501, 3001, 4001}) {
        const auto seed = before.size();
        before.push_back(recorded({level}, 11, 2 * seed));
        after.push_back(recorded({level + 400}, 11, 2 * seed + 1));
    }
    const auto comparison = compare(before, after).value();
    CHECK(comparison.by_recording);
    CHECK(comparison.before.blocks == 5);
    CHECK(change_of(comparison, "of1", "50").verdict == Verdict::same);
    CHECK(change_of(comparison, "of1", "50").n_after == 5 * 11 * 101);

    before.pop_back();
    const auto merged = compare(before, after).value();
    CHECK_FALSE(merged.by_recording);
    CHECK(merged.before.recordings == 4);
}

TEST_CASE("of recordings that are blocks a total that is no stage is tested, too") {
    const auto side = [](std::int64_t total) {
        std::vector<Summary> recordings;
        for (std::int64_t i = 0; i < 5; ++i) {
            auto& summary = recordings.emplace_back(recorded({3001}, 3, static_cast<std::uint64_t>(total + i)));
            auto& breakdown = summary.breakdowns.emplace_back("rx", std::vector<std::string>{"of1"}, 0);
            for (std::int64_t k = 0; k < 101; ++k) {
                const auto value = total + i + k;
                breakdown.add(value, std::vector<std::int64_t>{value});
            }
        }
        return recordings;
    };
    const auto before = side(2000), after = side(3500);
    const auto comparison = compare(std::span(before), std::span(after)).value();
    const auto& total = change_of(comparison, "rx total", "50");
    CHECK(total.verdict == Verdict::slower);
    CHECK(*total.change == doctest::Approx(1500.0 / 2052).epsilon(0.01));
    CHECK(*total.low > 0.7);
    CHECK(*total.high < 0.76);
    CHECK(change_of(compare(std::span(before), std::span(before)).value(), "rx total", "50").p == 1);
}

TEST_CASE("a total that is no stage has a change, but no interval") {
    const auto with_total = [](std::int64_t total, std::uint64_t seed) {
        auto summary = recorded({2001}, 20, seed);
        Breakdown breakdown("rx", {"of1"}, 0);
        for (int i = 0; i < 7; ++i)
            breakdown.add(total, std::vector<std::int64_t>{total});
        summary.breakdowns.push_back(breakdown);
        return summary;
    };
    const auto comparison = compare(with_total(200, 1), with_total(250, 2)).value();
    const auto& total = change_of(comparison, "rx total", "mean");
    CHECK(total.verdict == Verdict::untested);
    CHECK(*total.change == 0.25);
    CHECK_FALSE(total.low);
    CHECK_FALSE(total.p);
}

TEST_CASE("averages are compared as averages, by interval") {
    const auto averages = [](double level) {
        Summary summary;
        summary.recipe = "memcached-tracker";
        summary.notes = {{"cut off above 100 us"}};
        double sum = 0;
        for (int i = 0; i < 17; ++i) {
            const double mean = level + i % 5;
            summary.average_intervals.push_back({i + 1, 31, {{"rx", true, 31, mean, 0.5}}});
            sum += mean;
        }
        summary.averages = {{"rx", true, 17 * 31, sum / 17, 0.5}};
        summary.accounting.closed = true;
        return summary;
    };
    const auto comparison = compare(averages(100), averages(120)).value();
    REQUIRE(comparison.changes.size() == 1);
    CHECK(comparison.changes[0].verdict == Verdict::slower);
    CHECK(*comparison.changes[0].low > 0.15);
    CHECK(compare(averages(100), averages(100.2)).value().changes[0].verdict == Verdict::same);
    auto other = recorded({2001}, 20, 1);
    other.recipe = "memcached-tracker";
    other.notes = {{"cut off above 100 us"}};
    CHECK(has(refusal(averages(100), other), "before has averages only"));
}

TEST_CASE("stages of one side only are not compared, nor is a total that they are part of") {
    const auto with_total = [](std::initializer_list<std::int64_t> typical, bool second_seen) {
        auto summary = recorded(typical, 20, 1);
        if (!second_seen) {
            summary.stages[1].stats = {};
            auto of_first = Series(typical.size());
            for (const auto& block : summary.series.blocks())
                of_first.at(block.start_ns).stages[0] = block.stages[0];
            summary.series = of_first;
        }
        auto& breakdown = summary.breakdowns.emplace_back("", std::vector<std::string>{"of1", "of2"}, 0);
        breakdown.add(2001, std::vector<std::int64_t>{2001, second_seen ? 3002 : -1});
        return summary;
    };
    const auto both = with_total({2001, 3002}, true), one = with_total({2001, 3002}, false);
    const auto comparison = compare(both, one).value();
    CHECK(comparison.only_before == std::vector<std::string>{"of2"});
    CHECK(comparison.only_after.empty());
    for (const auto& change : comparison.changes)
        CHECK(change.stage == "of1");
    CHECK(comparison.is_one_sided);
    CHECK(comparison.outcome() == Outcome::none);
    REQUIRE(comparison.warnings.size() == 1);
    CHECK(comparison.warnings[0] == "only before has of2: not compared, and no total that these are part of");
    CHECK(change_of(compare(both, both).value(), "total", "mean").stage == "total");

    // A few packets of another kind, among many, are no reason to know nothing.
    auto rare = one;
    rare.stages[1].stats.add(3002);
    const auto noise = compare(rare, one).value();
    CHECK(noise.only_before == std::vector<std::string>{"of2"});
    CHECK_FALSE(noise.is_one_sided);
    CHECK(noise.outcome() == Outcome::no_regression);

    auto other = recorded({3002}, 20, 1);  // of2 alone
    CHECK(has(refusal(one, other), "no stage in common: of1 and of2"));
}

TEST_CASE("what cannot be compared is refused") {
    const auto before = recorded({2001}, 20, 1);
    auto other = before;
    other.recipe = "tx-latency";
    CHECK(has(refusal(before, other), "rx-latency and one of tx-latency"));
    other = before;
    other.resolution_ns = 1000;
    CHECK(has(refusal(before, other), "(1 ns and 1000 ns)"));
    other = before;
    other.notes = {{"100 us and more are cut off"}};
    CHECK(has(refusal(before, other), "100 us and more are cut off"));
    other.notes = {{"received were 17 packets", NoteKind::count}, {"local times", NoteKind::clock}};
    CHECK(compare(before, other));
    other = before;
    other.series = Series(1);
    CHECK(has(refusal(before, other), "after has no times"));
    other = before;
    other.stages[0].stats = {};
    CHECK(has(refusal(before, other), "no durations"));
}

TEST_CASE("what speaks against a comparison is said") {
    auto before = recorded({2001}, 20, 1), after = recorded({2001}, 20, 2);
    before.start_epoch_ns = 100 * second;
    before.end_epoch_ns = 120 * second;
    after.start_epoch_ns = 119 * second;
    after.end_epoch_ns = 139 * second;
    after.accounting.lost = {{"evicted", 3}};
    after.accounting.seen = 3;
    after.transport.skipped_probes = 17;
    before.origins = {{"web1", "6.1.0-18-amd64", {"stapgen", "rx-latency", "--port", "80", "-x", "77", "-o", "a.rec"}}};
    after.origins = {{"web1", "6.12.9-amd64", {"stapgen", "rx-latency", "--port", "81", "-x", "78", "--output=b.rec"}}};
    const auto warnings = compare(before, after).value().warnings;
    REQUIRE(warnings.size() == 4);
    CHECK(has(warnings[0], "after: data is missing (3 lost, 17 probes skipped)"));
    CHECK(has(warnings[1], "kernels differ: before 6.1.0-18-amd64, after 6.12.9-amd64"));
    CHECK(has(warnings[2], "options differ: before rx-latency --port 80, after rx-latency --port 81"));
    CHECK(has(warnings[3], "at the same time"));
    after.start_epoch_ns = 120 * second;
    CHECK(compare(before, after).value().warnings.size() == 3);
}

TEST_CASE("durations below the resolution have no change") {
    auto before = recorded({2001}, 20, 1), after = before;
    for (auto* summary : {&before, &after}) {
        summary->stages[0].stats = {};
        summary->series = Series(1);
        for (int i = 0; i < 20 * 101; ++i) {
            const std::int64_t value = summary == &after && i % 5 != 0 ? 1000 : 0;
            summary->stages[0].stats.add(value);
            summary->series.at(i % 20 * second).stages[0].add(value);
        }
        summary->resolution_ns = 1000;
    }
    const auto comparison = compare(before, after).value();
    CHECK_FALSE(change_of(comparison, "of1", "50").change);
    CHECK(change_of(comparison, "of1", "50").verdict == Verdict::too_few);
}

TEST_CASE("a stage that is slower says which part of it is, per packet of the stage") {
    auto before = recorded({2001, 3002}, 29, 1), after = recorded({2001, 4502}, 31, 2);
    for (auto* side : {&before, &after}) {
        stapgen::table::Histogram cwnd, nagle;
        const auto n = side->stages[1].stats.n();
        for (std::int64_t i = 0; i < n; ++i) {
            cwnd.add(1009);
            if (side == &after && i % 2 == 0) nagle.add(3001);
        }
        side->stages.push_back({"of2.cwnd", {}, cwnd});
        side->stages.push_back({"of2.nagle", {}, nagle});
    }
    const auto comparison = compare(before, after).value();
    CHECK(comparison.changes.size() == 10);  // of stages
    REQUIRE(comparison.parts.size() == 2);
    CHECK(comparison.parts[0].cause == "cwnd");
    CHECK(comparison.parts[0].before_ns == comparison.parts[0].after_ns);
    CHECK(comparison.parts[1].stage == "of2");
    CHECK(comparison.parts[1].before_ns == 0);
    CHECK(comparison.parts[1].after_ns == doctest::Approx(1501).epsilon(0.001));
    CHECK(has(comparison.sentence(), " (on average +1.50 us, nagle +1.50 us of it)"));
    CHECK(comparison.only_after.empty());

    // One side was measured without parts: then there is nothing to compare.
    before.stages.resize(2);
    CHECK(compare(before, after).value().parts.empty());
}
