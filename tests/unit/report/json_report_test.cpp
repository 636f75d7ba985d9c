#include "report/json_report.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "repeated.h"

using namespace stapgen::analyze;
using nlohmann::json;

namespace {

std::string written(const Summary& summary, const stapgen::report::JsonOptions& options = {}) {
    std::ostringstream out;
    stapgen::report::write_json(out, summary, options);
    return out.str();
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
    drop.address = 0xffffffff9a000001;
    drop.reason = 3;
    drop.count = 17;
    drop.symbol = "icmp_rcv";
    drop.offset = 0;
    drop.reason_name = "NO_SOCKET";
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
    const auto document = json::parse(written(summary_of_all()));
    CHECK(document["schema"] == "stapgen.report/1");
    CHECK(document["recipe"] == "rx-latency");
    CHECK(keys(document) == std::set<std::string>{"schema", "recipe", "start", "end", "stages", "values",
                                                  "relative_error", "resolution_ns", "confidence_level", "tail",
                                                  "slowest", "series", "averages", "average_intervals", "drops",
                                                  "counters", "accounting", "input", "notes"});
    CHECK(keys(document["stages"][0]) == std::set<std::string>{"stage", "group", "n", "sum_ns", "share", "mean_ns",
                                                               "stddev_ns", "min_ns", "max_ns", "percentiles_ns",
                                                               "percentiles_ci_ns"});
    CHECK(keys(document["values"][0]) == std::set<std::string>{"value", "group", "n", "sum", "mean", "stddev", "min",
                                                               "max", "percentiles", "percentiles_ci"});
    CHECK(keys(document["drops"][0]) == std::set<std::string>{"time", "interval", "symbol", "offset", "module",
                                                              "address", "reason", "reason_number", "count"});
}

TEST_CASE("numbers are ns, and what is not known is null") {
    const auto document = json::parse(written(summary_of_all()));
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

TEST_CASE("a report of an interval says which, and its drops say the same; in one line if asked for") {
    const auto text = written(summary_of_all(), {.one_line = true, .interval = 3});
    CHECK(text.find('\n') == text.size() - 1);
    const auto document = json::parse(text);
    CHECK(document["interval"] == 3);
    CHECK(document["drops"][0]["interval"] == 3);
    CHECK_FALSE(json::parse(written(summary_of_all())).contains("interval"));
}

TEST_CASE("percentile keys are the user's own strings, in his order") {
    const auto text = written(summary_of_all(), {.percentiles = {{"99.00", 99}, {"50", 50}}});
    CHECK(json::parse(text)["stages"][0]["percentiles_ns"] == json{{"99.00", 4001}, {"50", 4001}});
    CHECK(text.find("\"99.00\"") < text.find("\"50\""));
}

TEST_CASE("groups are objects, and a name that is no UTF-8 does no harm") {
    const auto document = json::parse(written(summary_of_all()));
    CHECK(document["stages"][1]["group"] == json{{"pid", 19550},
                                                 {"comm",
                                                  "fire\xef\xbf\xbd"
                                                  "fox"}});
    CHECK(document["stages"][2]["group"] == json{{"other", true}});
}

TEST_CASE("drops have time, place and reason") {
    const auto drops = json::parse(written(summary_of_all()))["drops"];
    CHECK(drops[0] == json{{"time", "2026-11-20T13:06:45.000000007Z"},
                           {"interval", 0},
                           {"symbol", "icmp_rcv"},
                           {"offset", 0},
                           {"module", nullptr},
                           {"address", "0xffffffff9a000001"},
                           {"reason", "NO_SOCKET"},
                           {"reason_number", 3},
                           {"count", 17}});
    CHECK(drops[1]["time"].is_null());
    CHECK(drops[1]["symbol"].is_null());
    CHECK(drops[1]["reason"].is_null());
    CHECK(drops[1]["reason_number"].is_null());
}

TEST_CASE("all counters of the kernel that the recipe declares are there, risen or not") {
    const auto counters = json::parse(written(summary_of_all()))["counters"];
    REQUIRE(counters.size() == 2);
    CHECK(counters[0] == json{{"name", "TcpExt.ListenOverflows"}, {"help", "full"}, {"count", 17}});
    CHECK(counters[1]["count"].is_null());
}

TEST_CASE("accounting and input are told in full") {
    const auto document = json::parse(written(summary_of_all()));
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
    CHECK(document["input"]["lines"] == 1013);
    CHECK(document["input"]["recognised"] == 1012);
    CHECK(document["input"]["unrecognised"] == 1);
    CHECK(document["input"]["first_unrecognised"][0] == json{{"line", 4}, {"why", "wrong number of fields"}});
}
