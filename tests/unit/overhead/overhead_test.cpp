// SPDX-License-Identifier: GPL-2.0-or-later
#include "overhead/overhead.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include "base/files.h"

using namespace stapgen;

namespace {

recipe::Recipe recipe_of(std::int64_t instructions, std::int64_t printing, double sampled) {
    recipe::Recipe recipe;
    recipe.name = "rx-latency";
    recipe.cost = recipe::Cost{{{"softnet.processed", 5}, {"Ip.OutRequests", 2}}, instructions, printing, sampled};
    return recipe;
}

host::EventCounters reading(std::int64_t second, std::int64_t received, std::int64_t sent) {
    host::EventCounters counters;
    counters.counters = {{"softnet.processed", received}, {"Ip.OutRequests", sent}};
    counters.received_by_cpu = {{0, static_cast<std::uint32_t>(received - received / 4)},
                                {1, static_cast<std::uint32_t>(received / 4)}};
    counters.at += std::chrono::seconds(second);
    return counters;
}

/// 4,000 packets received, three quarters of them on one of four CPUs, and 1,009 sent, in two seconds.
overhead::ExpectedCost expected_of(const overhead::HitCost& hit) {
    return overhead::expected_cost(*recipe_of(1, 0, 0).cost, hit, reading(0, 0, 0), reading(2, 4000, 1009), 4);
}

/// stapgen's cache, in a folder of the test's own.
struct Cache {
    base::PrivateDirectory folder = *base::PrivateDirectory::create();
    Cache() { ::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1); }
    ~Cache() { ::unsetenv("XDG_CACHE_HOME"); }
    Cache(const Cache&) = delete;
    Cache& operator=(const Cache&) = delete;
};

/// 1,009 hits of 300 ns.
kinds::Cost measured() {
    kinds::Cost cost;
    cost.add({"kprobe.function(\"ip_rcv_core\")", 1009, 600, 900});
    cost.cycles_per_s = 2e9;
    return cost;
}

}  // namespace

TEST_CASE("parts of stages take more hits, and none of what another counter counts, too") {
    auto recipe = recipe_of(1, 0, 0);
    recipe.record.fields = {{"app-tcp", schema::FieldType::stage}, {"app-tcp.nagle", schema::FieldType::stage}};
    recipe.cost->parts_hits = {{"Ip.OutRequests", 4}, {"softnet.processed", -1}};
    const auto hits_of = [](const recipe::Recipe& of) {
        return overhead::expected_cost(*of.cost, {1000, false, 0}, reading(0, 0, 0), reading(2, 4000, 1009), 4)
            .hits_per_s;
    };
    CHECK(hits_of(recipe) == doctest::Approx((4000 * 4 + 1009 * 6) / 2.0));
    CHECK(hits_of(recipe.asked_by({{"no-parts", "true"}})) == doctest::Approx((4000 * 5 + 1009 * 2) / 2.0));
}

TEST_CASE("what is expected follows the kernel's counters, of all CPUs and of the busiest") {
    const auto expected = expected_of({1000, false, 0});
    CHECK(expected.hits_per_s == doctest::Approx((4000 * 5 + 1009 * 2) / 2.0));
    CHECK(expected.of_all_cpus() == doctest::Approx(11009e-6 / 4));
    CHECK(expected.of_busiest() == doctest::Approx(11009e-6 * 0.75));
    CHECK(overhead::sentence_of(expected) ==
          "11,009 hits/s at the current traffic, 0.28 % of all CPUs, 0.83 % of the busiest (1.00 us each, assumed; "
          "--cost measures it)");
}

TEST_CASE("a machine without traffic, or without time between two readings, is expected to cost nothing") {
    const auto cost = *recipe_of(1009, 0, 0).cost;
    CHECK(overhead::expected_cost(cost, {1, false, 0}, reading(0, 7, 7), reading(1, 7, 7), 3).of_busiest() == 0);
    CHECK(overhead::expected_cost(cost, {1, false, 0}, reading(1, 7, 7), reading(1, 9, 9), 3).of_all_cpus() == 0);
}

TEST_CASE("a script that aggregates is expected to cost no printing, and one that prints spares it with the sample") {
    const Cache cache;
    const auto recipe = recipe_of(550, 3800, 0.4);
    const auto printing = overhead::hit_cost_of(recipe, false, "6.1.0"),
               aggregating = overhead::hit_cost_of(recipe, true, "6.1.0");
    CHECK(printing.ns == doctest::Approx(2175));
    CHECK(printing.sampled == doctest::Approx((0.4 * 550 + 3800) / 4350));
    CHECK(aggregating.ns == doctest::Approx(275));
    CHECK(aggregating.sampled == doctest::Approx(0.4));
    CHECK_FALSE(aggregating.measured);
}

TEST_CASE("what was measured here is remembered, apart for scripts that aggregate and for each kernel") {
    const Cache cache;
    const auto recipe = recipe_of(550, 3800, 0.4);
    overhead::remember_hit_cost(recipe.name, true, "6.1.0", measured());
    const auto again = overhead::hit_cost_of(recipe, true, "6.1.0");
    CHECK(again.measured);
    CHECK(again.ns == doctest::Approx(300));
    CHECK(again.sampled == doctest::Approx(0.4));
    CHECK_FALSE(overhead::hit_cost_of(recipe, false, "6.1.0").measured);
    CHECK_FALSE(overhead::hit_cost_of(recipe, true, "6.1.1").measured);
    // Too few hits to tell.
    kinds::Cost few;
    few.add({"x", 7, 600, 900});
    few.cycles_per_s = 2e9;
    overhead::remember_hit_cost(recipe.name, false, "6.1.0", few);
    CHECK_FALSE(overhead::hit_cost_of(recipe, false, "6.1.0").measured);
}

TEST_CASE("the smallest sample within the budget is taken, and where none is it is said") {
    const auto expected = expected_of({10000, false, 0.8});  // 8.26 % of the busiest
    CHECK(overhead::plan_budget(0.09, expected).one_in == 1);
    CHECK(overhead::plan_budget(0.05, expected).one_in == 2);
    CHECK(overhead::plan_budget(0.05, expected).of_busiest == doctest::Approx(expected.of_busiest() * 0.6));
    CHECK(overhead::plan_budget(0.03, expected).one_in == 8);
    const auto beyond = overhead::plan_budget(0.001, expected);
    CHECK(beyond.one_in == 16);
    CHECK(overhead::sentence_of(expected, beyond, 0.001)
              .ends_with("with 1 in 16 sockets measured, 2.06 % of the busiest CPU; that exceeds the budget of 0.10 "
                         "%, which ends the run when it is reached: measure less"));
    CHECK(overhead::plan_budget(0.001, expected_of({10000, false, 0})).one_in == 1);
}

TEST_CASE("a sample that was asked for is reported with or without a budget") {
    const auto expected = expected_of({10000, false, 0.8});
    const auto plan = overhead::plan_sample(4, expected);
    CHECK(overhead::sentence_of(expected, plan, std::nullopt)
              .ends_with("; with 1 in 4 sockets measured, 3.30 % of the busiest CPU"));
    CHECK(overhead::sentence_of(expected, overhead::plan_sample(1, expected), std::nullopt) ==
          overhead::sentence_of(expected));
}

TEST_CASE("a budget is a percentage that SystemTap's guard can keep") {
    CHECK(overhead::parse_budget("5%").value() == doctest::Approx(0.05));
    CHECK(overhead::parse_budget("0.7").value() == doctest::Approx(0.007));
    for (const auto* typed : {"0", "0%", "51%", "-1", "much", ""}) {
        CAPTURE(typed);
        CHECK(overhead::parse_budget(typed).error().what.starts_with("--budget "));
    }
    CHECK(overhead::guard_macros(0.05) ==
          std::vector<std::string>{"STP_OVERLOAD_INTERVAL=3000000000LL", "STP_OVERLOAD_THRESHOLD=150000000LL"});
}
