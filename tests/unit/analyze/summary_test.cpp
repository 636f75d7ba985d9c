// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "analyze/merge.h"
#include "unit/rows.h"

using namespace stapgen::analyze;
using namespace stapgen::summaries;

namespace {

Summary host(std::int64_t pid, std::int64_t value, int n) {
    Summary summary;
    summary.recipe = "rx-latency";
    summary.stages.push_back({"drv-ip", {}, {}});
    summary.stages.push_back({"drv-ip", {{"pid", pid}}, {}});
    for (int i = 0; i < n; ++i) {
        for (auto& stage : summary.stages)
            stage.stats.add(value);
    }
    summary.accounting.seen = n + 3;
    summary.accounting.reported = n;
    summary.accounting.lost = {{"evicted", 3}};
    summary.accounting.closed = true;
    summary.input.lines = summary.input.recognised = n + 2;
    summary.start_epoch_ns = 1000 * pid;
    summary.end_epoch_ns = 1000 * pid + 7;
    summary.intervals = {{0, 1000 * pid, 1000 * pid + 7}};
    return summary;
}

}  // namespace

TEST_CASE("recordings of several machines add up") {
    auto all = host(5, 101, 7);
    REQUIRE(merge(all, host(3, 103, 11)));
    REQUIRE(merge(all, host(5, 107, 13)));
    REQUIRE(all.stages.size() == 3);
    CHECK(all.stages[0].stats.n() == 31);
    CHECK(all.stages[1].stats.n() == 20);
    CHECK(all.stages[2].group == Group{{"pid", 3}});
    CHECK(all.accounting.seen == 40);
    CHECK(all.accounting.lost_total() == 9);
    CHECK(all.accounting.lost.size() == 1);
    CHECK(all.accounting.unaccounted() == 0);
    CHECK(all.input.lines == 37);
    CHECK(all.start_epoch_ns == 3000);
    CHECK(all.end_epoch_ns == 5007);
    CHECK(all.intervals.size() == 3);
}

TEST_CASE("one recording without an end makes the sum not closed") {
    auto all = host(5, 101, 7);
    auto cut = host(3, 103, 11);
    cut.accounting.closed = false;
    REQUIRE(merge(all, cut));
    CHECK_FALSE(all.accounting.closed);
}

TEST_CASE("drops keep to their own intervals when recordings are added") {
    Summary one;
    one.intervals = {{0, 0, 5}, {1, 5, 10}};
    Summary two;
    two.intervals = {{0, 0, 5}};
    Drop drop;
    drop.place.address = 0xffffffff9a000001;
    drop.count = 17;
    two.drops = {drop};
    REQUIRE(merge(one, two));
    CHECK(one.drops.at(0).interval == 2);
}

TEST_CASE("recordings of different definitions are not added, whoever comes first") {
    const auto defined = [](const std::string& definition, std::map<std::string, std::string> filters) {
        auto summary = host(5, 101, 7);
        Origin origin{.host = "web17", .kernel = "6.12", .command = {}, .filters = std::move(filters)};
        origin.definition = definition;
        summary.origins.push_back(std::move(origin));
        return summary;
    };
    const auto all = defined("1a", {}), port = defined("2b", {{"port", "80"}});
    auto sum = all;
    REQUIRE(merge(sum, all));
    CHECK(sum.stages[0].stats.n() == 14);
    CHECK(sum.definition() == "1a");
    for (auto [one, other] : {std::pair(all, port), {port, all}, {all, host(5, 101, 7)}, {host(5, 101, 7), all}}) {
        const auto added = merge(one, other);
        REQUIRE_FALSE(added);
        CHECK(one.stages[0].stats.n() == 7);
    }
    CHECK(merge_conflict_of(all, port) == "they differ in filters (none; --port 80)");
    CHECK(merge_conflict_of(all, host(5, 101, 7)) == "one of them has no definition");
}

TEST_CASE("recordings of different recipes are not added") {
    auto all = host(5, 101, 7);
    Summary other;
    other.recipe = "dropwatch";
    CHECK_FALSE(merge(all, other));
    CHECK(all.stages[0].stats.n() == 7);
}

TEST_CASE("counters of the kernel add up by name") {
    Summary one, two;
    one.counters = {{"Tcp.A", "a", 3}, {"Tcp.B", "b", std::nullopt}};
    two.counters = {{"Tcp.B", "b", 5}, {"Tcp.A", "a", 7}, {"Tcp.C", "c", 11}};
    REQUIRE(merge(one, two));
    CHECK(one.counters == std::vector<Counter>{{"Tcp.A", "a", 10}, {"Tcp.B", "b", 5}, {"Tcp.C", "c", 11}});
}
