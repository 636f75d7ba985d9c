// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "full_summary.h"
#include "written.h"

using namespace stapgen::rows;
using nlohmann::json;

namespace {

std::string json_of(const Summary& summary, const stapgen::show::Options& options = {}) {
    return written("json", {summary}, options);
}

std::set<std::string> keys(const json& object) {
    std::set<std::string> names;
    for (const auto& [key, value] : object.items())
        names.insert(key);
    return names;
}

Summary summary_of_all() {
    Summary summary;
    summary.recipe = "rx-latency";
    summary.stages = {{"drv-ip", {}, repeated(4001, 1009)},
                      {"drv-ip",
                       {{"pid", 19550},
                        {"comm",
                         "fire\xff"
                         "fox"}},
                       {}},
                      {"drv-ip", {{"other", true}}, {}}};
    summary.values = {{"epoll_events", {}, repeated(3, 37)}};
    Drop drop;
    drop.end_epoch_ns = 1795180005000000007;
    drop.place.address = 0xffffffff9a000001;
    drop.reason.number = 3;
    drop.count = 17;
    drop.place.symbol = "icmp_rcv";
    drop.place.offset = 0;
    drop.reason.name = "NO_SOCKET";
    summary.drops = {drop, Drop{}};
    summary.accounting = {1020, 1009, 7, {{"no-read", 3}}, {{"evicted", 1}}, {}, true};
    summary.input = {1013, 1012, 1, {{4, stapgen::decode::Flaw::field_count}}};
    summary.transport = {5, 11, 13};
    summary.counters = {{"TcpExt.ListenOverflows", "full", 17}, {"TcpExt.New", "unknown here", std::nullopt}};
    summary.start_epoch_ns = 1795180000000000000;
    return summary;
}

}  // namespace

TEST_CASE("the keys are those of the contract") {
    const auto document = json::parse(json_of(summary_of_all()));
    CHECK(document["schema"] == "stapgen.report/1");
    CHECK(document["recipe"] == "rx-latency");
    CHECK(keys(document) == std::set<std::string>{"schema",
                                                  "recipe",
                                                  "definition",
                                                  "origins",
                                                  "recordings",
                                                  "start",
                                                  "end",
                                                  "aggregated",
                                                  "stages",
                                                  "values",
                                                  "relative_error",
                                                  "resolution_ns",
                                                  "confidence_level",
                                                  "tail",
                                                  "slowest",
                                                  "series",
                                                  "averages",
                                                  "average_intervals",
                                                  "drops",
                                                  "counted",
                                                  "counts",
                                                  "benign_not_shown",
                                                  "advice",
                                                  "counters",
                                                  "accounting",
                                                  "input",
                                                  "notes"});
    CHECK(keys(document["stages"][0]) == std::set<std::string>{"stage", "group", "n", "sum_ns", "share", "mean_ns",
                                                               "stddev_ns", "min_ns", "max_ns", "percentiles_ns",
                                                               "percentiles_ci_ns"});
    CHECK(keys(document["values"][0]) == std::set<std::string>{"value", "group", "n", "sum", "mean", "stddev", "min",
                                                               "max", "percentiles", "percentiles_ci"});
    CHECK(keys(document["drops"][0]) == std::set<std::string>{"time", "interval", "symbol", "offset", "module",
                                                              "address", "reason", "reason_number", "group", "count",
                                                              "benign"});
}

TEST_CASE("numbers are ns, and what is not known is null") {
    const auto document = json::parse(json_of(summary_of_all()));
    const auto& whole = document["stages"][0];
    CHECK(whole["group"] == json::object());
    CHECK(whole["n"] == 1009);
    CHECK(whole["mean_ns"] == 4001.0);
    CHECK(whole["stddev_ns"] == 0.0);
    CHECK(whole["max_ns"] == 4001);
    CHECK(whole["percentiles_ns"] == json{{"50", 4001}, {"90", 4001}, {"99", 4001}, {"99.9", nullptr}});
    const auto& empty = document["stages"][1];
    CHECK(empty["n"] == 0);
    CHECK(empty["mean_ns"].is_null());
    CHECK(empty["min_ns"].is_null());
    CHECK(document["relative_error"] == 1.0 / 512);
    CHECK(document["end"].is_null());
    CHECK(document["start"] == "2026-11-20T13:06:40.000000000Z");
}

TEST_CASE("a report of an interval says which, and its drops say the same, in one line if asked for") {
    const auto out = written("ndjson", {summary_of_all()}, {.interval = 3});
    const auto text = out;
    CHECK(text.find('\n') == text.size() - 1);
    const auto document = json::parse(text);
    CHECK(document["interval"] == 3);
    CHECK(document["drops"][0]["interval"] == 3);
    CHECK_FALSE(json::parse(json_of(summary_of_all())).contains("interval"));
}

TEST_CASE("percentile keys are the user's own strings, in his order") {
    const auto text = json_of(summary_of_all(), {.percentiles = {{"99.00", 99}, {"50", 50}}});
    CHECK(json::parse(text)["stages"][0]["percentiles_ns"] == json{{"99.00", 4001}, {"50", 4001}});
    CHECK(text.find("\"99.00\"") < text.find("\"50\""));
}

TEST_CASE("groups are objects, and a name that is no UTF-8 does no harm") {
    const auto document = json::parse(json_of(summary_of_all()));
    CHECK(document["stages"][1]["group"] == json{{"pid", 19550},
                                                 {"comm",
                                                  "fire\xef\xbf\xbd"
                                                  "fox"}});
    CHECK(document["stages"][2]["group"] == json{{"other", true}});
}

TEST_CASE("drops have time, place and reason") {
    const auto drops = json::parse(json_of(summary_of_all()))["drops"];
    CHECK(drops[0] == json{{"time", "2026-11-20T13:06:45.000000007Z"},
                           {"interval", 0},
                           {"symbol", "icmp_rcv"},
                           {"offset", 0},
                           {"module", nullptr},
                           {"address", "0xffffffff9a000001"},
                           {"reason", "NO_SOCKET"},
                           {"reason_number", 3},
                           {"group", json::object()},
                           {"count", 17},
                           {"benign", true}});
    CHECK(drops[1]["time"].is_null());
    CHECK(drops[1]["symbol"].is_null());
    CHECK(drops[1]["reason"].is_null());
    CHECK(drops[1]["reason_number"].is_null());
    CHECK(drops[1]["benign"] == false);
}

TEST_CASE("what drops mean is said once for each reason, and drops that are not shown are counted") {
    auto summary = summary_of_all();
    summary.drops[1].reason.name = "OTHERHOST";
    summary.drops[1].count = 23;
    auto document = json::parse(json_of(summary));
    REQUIRE(document["advice"].size() == 2);
    CHECK(document["advice"][0]["reason"] == "OTHERHOST");
    CHECK(document["advice"][0]["function"].is_null());
    CHECK(document["advice"][0]["benign"] == false);
    CHECK(document["advice"][0]["count"] == 23);
    CHECK(document["advice"][0]["text"].get<std::string>().starts_with("for another MAC address"));
    CHECK(document["advice"][1]["function"] == "icmp_rcv");
    CHECK(document["benign_not_shown"] == json{{"rows", 0}, {"count", 0}});
    const auto accounting = document["accounting"];
    document = json::parse(json_of(summary, {.hide_benign = true}));
    CHECK(document["drops"].size() == 1);
    CHECK(document["advice"].size() == 1);
    CHECK(document["benign_not_shown"] == json{{"rows", 1}, {"count", 17}});
    CHECK(document["accounting"] == accounting);
}

TEST_CASE("all counters of the kernel that the recipe declares are there, risen or not") {
    const auto counters = json::parse(json_of(summary_of_all()))["counters"];
    REQUIRE(counters.size() == 2);
    CHECK(counters[0] == json{{"name", "TcpExt.ListenOverflows"}, {"help", "full"}, {"count", 17}});
    CHECK(counters[1]["count"].is_null());
}

TEST_CASE("accounting and input are reported in full") {
    const auto document = json::parse(json_of(summary_of_all()));
    CHECK(document["accounting"] == json{{"seen", 1020},
                                         {"reported", 1009},
                                         {"filtered", 7},
                                         {"incomplete", 3},
                                         {"lost", 1},
                                         {"unaccounted", 0},
                                         {"incomplete_by", {{"no-read", 3}}},
                                         {"lost_by", {{"evicted", 1}}},
                                         {"other", json::object()},
                                         {"skipped_probes", 5},
                                         {"probe_errors", 11},
                                         {"transport_failures", 13},
                                         {"closed", true}});
    for (const auto* only_where_it_is : {"broke_off", "clock_set_ns", "suspended_ns"})
        CHECK_FALSE(document.contains(only_where_it_is));
    CHECK(document["input"]["lines"] == 1013);
    CHECK(document["input"]["recognised"] == 1012);
    CHECK(document["input"]["unrecognised"] == 1);
    CHECK(document["input"]["first_unrecognised"][0] == json{{"line", 4}, {"why", "wrong number of fields"}});
}

TEST_CASE("what happened to the run is reported where something did") {
    auto summary = summary_of_all();
    summary.transport.enough_buffer_mb = 17;
    summary.transport.skipped_by = {{"tcp_v4_rcv", 3}};
    summary.broke_off = "it was killed";
    summary.clock_set_ns = -7;
    summary.suspended_ns = 11;
    const auto document = json::parse(json_of(summary));
    CHECK(document["accounting"]["enough_buffer_mb"] == 17);
    CHECK(document["accounting"]["skipped_by"] == json{{"tcp_v4_rcv", 3}});
    CHECK(document["broke_off"] == "it was killed");
    CHECK(document["clock_set_ns"] == -7);
    CHECK(document["suspended_ns"] == 11);
}

TEST_CASE("sums, shares and confidence intervals are reported") {
    const auto stages = json::parse(json_of(full_summary()))["stages"];
    CHECK(stages[0]["sum_ns"] == 997 * 1009 + 13 * 1009 * 1008 / 2);
    CHECK(stages[0]["share"].get<double>() + stages[1]["share"].get<double>() == doctest::Approx(1));
    CHECK(stages[2]["share"] == 0.0);
    // Of its own group: 503 * 4001 and 499 * 101009 ns.
    CHECK(stages[3]["share"] == doctest::Approx(0.038396));
    const auto& interval = stages[0]["percentiles_ci_ns"]["90"];
    const double p90 = stages[0]["percentiles_ns"]["90"];
    CHECK(interval[0].get<double>() < p90);
    CHECK(interval[1].get<double>() > p90);
    CHECK(stages[0]["percentiles_ci_ns"]["99.9"].is_null());
    const auto document = json::parse(json_of(full_summary()));
    CHECK(document["confidence_level"] == 0.95);
    CHECK(document["resolution_ns"] == 1000);
    CHECK(document["notes"] == json{"requests above 100 us are cut off"});
}

TEST_CASE("the tail and the slowest are reported stage by stage") {
    const auto document = json::parse(json_of(full_summary()));
    REQUIRE(document["tail"].size() == 1);
    const auto& tail = document["tail"][0];
    CHECK(tail["way"] == "rx");
    CHECK(tail["percent"] == 99.0);
    CHECK(tail["n_slow"].get<int>() + tail["n_rest"].get<int>() == 1009);
    CHECK(tail["sentence"].get<std::string>().starts_with("The "));
    CHECK(tail["stages"][1]["stage"] == "tcp-app");
    CHECK(tail["stages"][1]["excess_share"].get<double>() > 0.9);
    CHECK(keys(tail["stages"][0]) ==
          std::set<std::string>{"stage", "slow_mean_ns", "rest_mean_ns", "slow_share", "rest_share", "excess_share"});
    REQUIRE(document["slowest"].size() == 3);
    const auto& slowest = document["slowest"][0];
    CHECK(slowest["total_ns"].get<int>() ==
          slowest["stages_ns"]["drv-ip"].get<int>() + slowest["stages_ns"]["tcp-app"].get<int>());
    CHECK(slowest["of"] == json{{"comm", "=HYPER(\"x\")"}});
    auto few = full_summary();
    few.breakdowns = {Breakdown("", {"drv-ip"}, 3)};
    CHECK(json::parse(json_of(few))["tail"] == json::array());
    few.breakdowns[0].add(7, std::vector<std::int64_t>{7});
    const auto too_few = json::parse(json_of(few))["tail"][0];
    CHECK(too_few["threshold_ns"].is_null());
    CHECK(too_few["sentence"].get<std::string>().find("368") != std::string::npos);
}

TEST_CASE("the series has a column of equal length for each number, and averages say how far off they are") {
    const auto document = json::parse(json_of(full_summary()));
    const auto& series = document["series"];
    CHECK(series["block_ns"] == 1'000'000'000);
    CHECK(series["start_ns"] ==
          json{1795180000000000000, 1795180001000000000, 1795180002000000000, 1795180003000000000});
    REQUIRE(series["stages"].size() == 3);
    CHECK(series["stages"][1]["stage"] == "tcp-app");
    CHECK(series["stages"][1]["n"] == json{334, 333, 333, 9});
    CHECK(series["stages"][1]["p50_ns"].size() == 4);
    CHECK(series["stages"][1]["p99_ns"][0].is_null());
    REQUIRE(series["values"].size() == 1);
    CHECK(series["values"][0]["value"] == "epoll_events");
    CHECK(series["values"][0]["n"] == json{12, 11, 12, 0});
    CHECK(series["values"][0]["max"][0] == 3);
    CHECK(series["stages"][0]["max_ns"][3] == 997 + 13 * 1008);
    CHECK(document["averages"] == json{{{"name", "rx"}, {"n", 1013}, {"mean_ns", 4001.4}, {"error_ns", 503.0}},
                                       {{"name", "events"}, {"n", 7}, {"mean", 1.5}, {"error", 0.0}}});
    CHECK(document["average_intervals"][0]["line"] == 19);
    CHECK(document["average_intervals"][0]["averages"][0]["mean_ns"] == 4001.4);
}
