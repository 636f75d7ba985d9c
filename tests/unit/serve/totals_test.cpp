// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/totals.h"

#include <doctest/doctest.h>

#include <map>

#include "base/saturate.h"
#include "table/merge.h"
#include "unit/rows.h"

using namespace stapgen;
using namespace stapgen::serve;
using stapgen::summaries::Drop;
using stapgen::summaries::Summary;
using stapgen::summaries::Tally;
using summaries::results_of;

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

Summary run_of(std::int64_t seen, std::int64_t reported, std::int64_t under_way) {
    Summary run;
    run.accounting.seen = seen;
    run.accounting.reported = reported;
    run.accounting.incomplete = {{"unread", under_way}};
    return run;
}

rows::Accounting account_of(const Totals& totals) {
    return totals.results().one<rows::Accounting>();
}
std::int64_t sum_of(const std::vector<rows::Cause>& causes) {
    return base::saturating_sum(causes, &rows::Cause::count);
}

}  // namespace

TEST_CASE("intervals of several runs add up, and an account goes on where the last run's ended") {
    SeriesLimit limit(100);
    Totals totals("r", limit);
    Summary interval;
    interval.stages = {
        {"a", {}, repeated(1009, 7)}, {"none", {}, {}}, {"a", {{"pid", std::int64_t{3}}}, repeated(1009, 7)}};
    totals.add(results_of(interval));
    totals.set_run(results_of(run_of(31, 7, 3)));
    auto ended = run_of(37, 11, 1);
    ended.transport.skipped_probes = 5;
    ended.counters = {{"Udp.NoPorts", "help", 3}, {"Udp.New", "help", std::nullopt}};
    ended.input.recognised = 101;
    totals.set_run(results_of(ended));
    totals.end_run();
    totals.add(results_of(interval));
    auto next = run_of(13, 7, 0);
    next.counters = {{"Udp.NoPorts", "help", 4}};
    next.input.recognised = 11;
    totals.set_run(results_of(next));
    const auto results = totals.results();
    CHECK(results.one<rows::Report>().recipe == "r");
    REQUIRE(results.of<rows::Stage>().size() == 1);
    const auto& stats = *results.of<rows::Stage>().front().distribution;
    CHECK(stats.n() == 14);
    CHECK(stats.sum() == 14 * 1009);
    CHECK(account_of(totals).seen == 50);
    CHECK(account_of(totals).reported == 18);
    CHECK(sum_of(account_of(totals).incomplete_by) == 1);
    CHECK(account_of(totals).transport.skipped_probes == 5);
    REQUIRE(results.of<rows::Counter>().size() == 2);
    CHECK(results.of<rows::Counter>()[0].count == 7);
    CHECK_FALSE(results.of<rows::Counter>()[1].count);
    CHECK(results.one<rows::Input>().recognised == 112);
    CHECK(limit.taken() == 1);
}

TEST_CASE("what is a difference in the script may fall, and no counter does") {
    SeriesLimit limit(100);
    Totals totals("r", limit);
    auto run = run_of(37, 11, 7);
    run.accounting.lost = {{"evicted", 3}};
    totals.set_run(results_of(run));
    run = run_of(36, 11, 2);
    run.accounting.lost = {{"evicted", 2}};
    totals.set_run(results_of(run));
    CHECK(account_of(totals).seen == 37);
    CHECK(sum_of(account_of(totals).lost_by) == 3);
    // What is under way is no counter.
    CHECK(sum_of(account_of(totals).incomplete_by) == 2);
    totals.set_run(results_of(run_of(41, 13, 0)));
    CHECK(account_of(totals).seen == 41);
    CHECK(sum_of(account_of(totals).lost_by) == 3);
}

TEST_CASE("a run is from the host that said last which one it is") {
    SeriesLimit limit(100);
    Totals totals("r", limit);
    Summary run;
    for (const auto* host : {"web6", "web7"}) {
        run.origins = {{.host = host, .kernel = "6.12", .command = {}}};
        totals.set_run(results_of(run));
        totals.end_run();
    }
    totals.set_run(results_of({}));
    const auto results = totals.results();
    CHECK(results.of<rows::Origin>().size() == 1);
    CHECK(results.one<rows::Origin>().host == "web7");
}

TEST_CASE("the first series stay, and what has no room is counted") {
    SeriesLimit limit(3);
    Totals totals("r", limit);
    Summary first, second;
    first.drops = {drop_of("tcp_v4_rcv", "NO_SOCKET", 17), drop_of("icmp_rcv", "NO_SOCKET", 3)};
    second.drops = {drop_of("udp_rcv", "NO_SOCKET", 101), drop_of("tcp_v4_rcv", "NO_SOCKET", 2),
                    drop_of("tcp_v4_rcv", "TCP_CSUM", 5)};
    totals.add(results_of(first));
    totals.add(results_of(second));
    totals.add(results_of(second));
    std::map<std::string, std::int64_t> counts;
    const auto results = totals.results();
    for (const auto& drop : results.of<rows::Drop>())
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
    interval.tallies.push_back({{.group = {{"name", std::string("Udp.NoPorts")}}, .count = 11}});
    other.add(results_of(interval));
    CHECK(other.results().of<rows::Stage>().empty());
    CHECK(other.results().of<rows::Count>().empty());
    CHECK(other.kept_out() == 18);
}

TEST_CASE("drops of one place and reason are one series, whatever their groups") {
    SeriesLimit limit(3);
    Totals totals("r", limit);
    Summary interval;
    interval.drops = {drop_of("tcp_v4_rcv", "NO_SOCKET", 17), drop_of("tcp_v4_rcv", "NO_SOCKET", 2)};
    interval.drops[0].group = {{"pid", std::int64_t{3}}};
    interval.drops[1].group = {{"pid", std::int64_t{5}}};
    totals.add(results_of(interval));
    const auto results = totals.results();
    REQUIRE(results.of<rows::Drop>().size() == 1);
    CHECK(results.of<rows::Drop>().front().count == 19);
    CHECK(limit.taken() == 1);
}

TEST_CASE("counts of one group add up") {
    SeriesLimit limit(3);
    Totals totals("softnet", limit);
    Summary interval;
    interval.counted = "rise";
    interval.tallies.push_back(
        {{.group = {{"name", std::string("Udp.NoPorts")}, {"of", std::string("-")}}, .count = 11}});
    totals.add(results_of(interval));
    totals.add(results_of(interval));
    const auto results = totals.results();
    REQUIRE(results.of<rows::Count>().size() == 1);
    CHECK(results.of<rows::Count>().front().count == 22);
    CHECK(results.of<rows::Count>().front().counted == "rise");
}
