// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "has.h"
#include "written.h"

using namespace stapgen::rows;

namespace {

Tally tally(std::int64_t interval, const std::string& comm, std::int64_t pid, std::int64_t count) {
    Tally of;
    of.interval = interval;
    of.end_epoch_ns = 1795180005000000000 + interval * 5000000000;
    of.group = {{"comm", comm}, {"pid", pid}};
    of.count = count;
    return of;
}

/// Two intervals and one without anything; a name that means harm.
Summary page_summary() {
    Summary summary;
    summary.recipe = "page-alloc";
    summary.counted = "pages";
    summary.intervals = {{1795180000000000000, 1795180005000000000},
                         {1795180005000000000, 1795180010000000000},
                         {1795180010000000000, 1795180015000000000}};
    summary.tallies = {tally(0, "cc1", 17, 10007), tally(0, "=<b>\x1b[2J", 19, 101), tally(1, "cc1", 17, 3)};
    summary.tallies[0].meaning = "a compiler";
    summary.tallies[2].meaning = "a compiler";
    summary.accounting = {10111, 10111, 0, {}, {}, {}, true};
    summary.start_epoch_ns = 1795180000000000000;
    summary.end_epoch_ns = 1795180015000000000;
    return summary;
}

}  // namespace

TEST_CASE("counts are a table for each interval and one of the total, with what they mean below") {
    setenv("TZ", "UTC", 1);
    tzset();
    const auto out = written("table", {page_summary()});
    CHECK(out ==
          "page-alloc, 2026-11-20 13:06:40 +0000, for 15.0 s\n\n"
          "2026-11-20 13:06:45 +0000\n"
          "PAGES COMM        PID\n"
          "10007 cc1         17\n"
          "  101 =<b>\\x1b[2J 19\n\n"
          "2026-11-20 13:06:50 +0000\n"
          "PAGES COMM PID\n"
          "    3 cc1  17\n\n"
          "2026-11-20 13:06:55 +0000\n"
          "none\n\n"
          "total: 10111 pages\n"
          "PAGES COMM        PID\n"
          "10010 cc1         17\n"
          "  101 =<b>\\x1b[2J 19\n\n"
          "cc1: a compiler\n\n"
          "10111 seen = 10111 reported + 0 filtered + 0 incomplete + 0 lost\n");
}

TEST_CASE("of many counts the table has the largest, and says what the others sum up to") {
    auto summary = page_summary();
    summary.intervals.resize(1);
    summary.tallies.resize(2);
    const auto out = written("table", {summary}, {.top = 1});
    CHECK(has(out, "total: 10108 pages\n"));
    CHECK(has(out, "and 101 in 1 more row; --top shows more\n"));
}

TEST_CASE("counts are in each format for programs") {
    const auto summary = page_summary();
    const auto json_text = written("json", {summary});
    const auto document = nlohmann::json::parse(json_text);
    CHECK(document["counted"] == "pages");
    REQUIRE(document["counts"].size() == 3);
    CHECK(document["counts"][0]["group"] == nlohmann::json{{"comm", "cc1"}, {"pid", 17}});
    CHECK(document["counts"][0]["count"] == 10007);
    CHECK(document["counts"][0]["meaning"] == "a compiler");
    CHECK(document["counts"][1]["meaning"].is_null());
    CHECK(document["counts"][1]["loss"] == false);
    CHECK(document["counts"][2]["interval"] == 1);
    CHECK(document["counts"][2]["time"] == "2026-11-20T13:06:50.000000000Z");

    const auto csv = written("csv", {summary});
    CHECK(has(csv, "1,page-alloc,count,pages,,,,cc1,17,count,10010,\n"));
    CHECK(has(csv, "1,page-alloc,interval-count,pages,,,1795180010000000000,cc1,17,count,3,\n"));

    const auto metrics = written("openmetrics", {summary});
    CHECK(
        has(metrics, "stapgen_counted_total{recipe=\"page-alloc\",counted=\"pages\",comm=\"cc1\",pid=\"17\"} 10010\n"));

    const auto html = written("html", {summary});
    CHECK(has(html, "total: 10111 pages"));
    CHECK(has(html, "a compiler"));
    CHECK_FALSE(has(html, "=<b>"));
}

TEST_CASE("what was lost is marked, and comes first in the total however little it is") {
    auto summary = page_summary();
    summary.intervals.resize(1);
    summary.tallies.resize(2);
    summary.tallies[1] = tally(0, "drops", 3, 5);
    summary.tallies[1].loss = true;
    const auto out = written("table", {summary});
    CHECK(has(out,
              "PAGES COMM  PID LOSS\n"
              "    5 drops 3   lost\n"
              "10007 cc1   17"));
    const auto json_text = written("json", {summary});
    CHECK(nlohmann::json::parse(json_text)["counts"][1]["loss"] == true);
    const auto html = written("html", {summary});
    CHECK(has(html, ">lost<"));
}

TEST_CASE("where units are mixed there is no sum, and losses by name stand behind losses") {
    auto summary = page_summary();
    summary.counted = "rise";
    summary.mixed_units = true;
    summary.intervals.resize(1);
    summary.tallies = {tally(0, "packets", 1, 1000000), tally(0, "queue_drops", 2, 3), tally(0, "dropped", 3, 2),
                       tally(0, "retransmits", 4, 5), tally(0, "reset.level", 5, 1)};
    summary.tallies[1].loss_by_name = true;
    summary.tallies[2].loss = true;
    summary.tallies[3].meaning = summary.tallies[2].meaning = "sent again";
    summary.tallies[1].per_s = 0.25;
    summary.tallies[0].per_s = 123456.7;
    summary.counters_read = 17;
    const auto out = written("table", {summary}, {.top = 4});
    CHECK(has(out,
              "4 of 17 counters rose; 2 count losses; 1 fell\n"
              "   RISE   PER S COMM        PID LOSS\n"
              "      2       - dropped     3   lost\n"
              "      3    0.25 queue_drops 2   by name\n"
              "      5       - retransmits 4\n"
              "1000000 123,457 packets     1\n"
              "and 1 more row; --top shows more\n\n"
              "dropped: sent again\n\n"
              "all counters read are reported\n"));
    const auto json_text = written("json", {summary});
    const auto document = nlohmann::json::parse(json_text);
    CHECK(document["counts"][1]["loss_by_name"] == true);
    CHECK(document["counts"][1]["per_s"] == 0.25);
    CHECK_FALSE(document["counts"][2].contains("per_s"));
    CHECK(document["counters_read"] == 17);
    const auto html = written("html", {summary});
    CHECK_FALSE(has(html, "SHARE"));
    CHECK(has(html, ">by name<"));
    CHECK(has(html, "123,457"));
    // What was lost on the way is told with the sums.
    summary.accounting.lost = {{"transport", 3}};
    const auto lost = written("table", {summary});
    CHECK(has(lost, "3 lost (transport 3)"));
}

TEST_CASE("one sample of counters: how many of losses are not 0") {
    auto summary = page_summary();
    summary.counted = "value";
    summary.mixed_units = summary.levels = true;
    summary.tallies = {tally(0, "dropped", 3, 2)};
    summary.tallies[0].loss = true;
    summary.counters_read = 17;
    summary.intervals.resize(1);
    const auto out = written("table", {summary});
    CHECK(has(out, "1 of 17 counters count losses and are above 0\nVALUE COMM    PID LOSS\n"));
}
