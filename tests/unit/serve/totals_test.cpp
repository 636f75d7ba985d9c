// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/totals.h"

#include <doctest/doctest.h>

using namespace stapgen;
using namespace stapgen::serve;
using stapgen::analyze::Drop;
using stapgen::analyze::Summary;
using stapgen::analyze::Tally;
using stapgen::table::Histogram;

namespace {

table::Histogram repeated(std::int64_t value, int n) {
    table::Histogram histogram;
    for (int i = 0; i < n; ++i)
        histogram.add(value);
    return histogram;
}

Drop drop_of(const char* symbol, const char* reason, std::int64_t count) {
    Drop drop;
    drop.place.symbol = symbol;
    drop.reason.name = reason;
    drop.count = count;
    return drop;
}

Totals::Run run_of(std::int64_t seen, std::int64_t reported, std::int64_t under_way) {
    Totals::Run run;
    run.accounting.seen = seen;
    run.accounting.reported = reported;
    run.accounting.incomplete = {{"unread", under_way}};
    return run;
}

}  // namespace

TEST_CASE("intervals of several runs add up, and an account goes on where the last run's ended") {
    SeriesLimit limit(100);
    Totals totals("r", limit);
    Summary interval;
    interval.stages = {{"a", {}, repeated(1009, 7)}, {"none", {}, {}}};
    totals.add(interval);
    totals.set_run(run_of(31, 7, 3));
    totals.set_run(run_of(37, 11, 1));
    totals.end_run({.skipped_probes = 5});
    totals.add(interval);
    totals.set_run(run_of(13, 7, 0));
    const auto summary = totals.summary();
    CHECK(summary.recipe == "r");
    REQUIRE(summary.stages.size() == 1);
    CHECK(summary.stages[0].stats.n() == 14);
    CHECK(summary.stages[0].stats.sum() == 14 * 1009);
    CHECK(summary.accounting.seen == 50);
    CHECK(summary.accounting.reported == 18);
    CHECK(summary.accounting.incomplete_total() == 1);
    CHECK(summary.transport.skipped_probes == 5);
    CHECK(limit.taken() == 1);
}

TEST_CASE("what is a difference in the script may fall, and no counter does") {
    SeriesLimit limit(100);
    Totals totals("r", limit);
    auto run = run_of(37, 11, 7);
    run.accounting.lost = {{"evicted", 3}};
    totals.set_run(run);
    run = run_of(36, 11, 2);
    run.accounting.lost = {{"evicted", 2}};
    totals.set_run(run);
    CHECK(totals.summary().accounting.seen == 37);
    CHECK(totals.summary().accounting.lost_total() == 3);
    // What is under way is no counter.
    CHECK(totals.summary().accounting.incomplete_total() == 2);
    totals.set_run(run_of(41, 13, 0));
    CHECK(totals.summary().accounting.seen == 41);
    CHECK(totals.summary().accounting.lost_total() == 3);
}

TEST_CASE("the first series stay, and what has no room is counted") {
    SeriesLimit limit(3);
    Totals totals("r", limit);
    Summary first, second;
    first.drops = {drop_of("tcp_v4_rcv", "NO_SOCKET", 17), drop_of("icmp_rcv", "NO_SOCKET", 3)};
    second.drops = {drop_of("udp_rcv", "NO_SOCKET", 101), drop_of("tcp_v4_rcv", "NO_SOCKET", 2),
                    drop_of("tcp_v4_rcv", "TCP_CSUM", 5)};
    totals.add(first);
    totals.add(second);
    totals.add(second);
    std::map<std::string, std::int64_t> counts;
    for (const auto& drop : totals.summary().drops)
        counts[*drop.place.symbol + " " + *drop.reason.name] = drop.count;
    CHECK(counts == std::map<std::string, std::int64_t>{
                        {"icmp_rcv NO_SOCKET", 3}, {"tcp_v4_rcv NO_SOCKET", 21}, {"udp_rcv NO_SOCKET", 202}});
    CHECK(totals.kept_out() == 10);
    CHECK(limit.taken() == 3);

    // Another recipe has what is left.
    Totals other("s", limit);
    Summary interval;
    interval.stages = {{"a", {}, repeated(1, 7)}};
    interval.counted = "rise";
    interval.tallies.push_back({.group = {{"name", std::string("Udp.NoPorts")}}, .count = 11});
    other.add(interval);
    CHECK(other.summary().stages.empty());
    CHECK(other.summary().tallies.empty());
    CHECK(other.kept_out() == 18);
}

TEST_CASE("counts of one group add up") {
    SeriesLimit limit(3);
    Totals totals("softnet", limit);
    Summary interval;
    interval.counted = "rise";
    interval.tallies.push_back(
        {.group = {{"name", std::string("Udp.NoPorts")}, {"of", std::string("-")}}, .count = 11});
    totals.add(interval);
    totals.add(interval);
    const auto summary = totals.summary();
    REQUIRE(summary.tallies.size() == 1);
    CHECK(summary.tallies[0].count == 22);
    CHECK(summary.counted == "rise");
}
