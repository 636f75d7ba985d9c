// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/exposition.h"

#include <doctest/doctest.h>

#include "serve/totals.h"
#include "unit/rows.h"

using namespace stapgen;
using namespace stapgen::serve;
using summaries::results_of;

namespace {

constexpr auto protobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";

bool has(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

Status measuring() {
    Status status;
    status.recipe = "rx-latency";
    status.state = State::measuring;
    status.starts = 3;
    status.last_failure = Failure::over_budget;
    status.failures = {0, 0, 0, 2, 0, 0};
    status.probes = {"kprobe.function(\"ip_rcv_core\")"};
    status.use = {std::chrono::milliseconds(1500), 4096};
    summaries::Summary measured;
    stapgen::table::Histogram stats;
    for (int i = 0; i < 7; ++i)
        stats.add(1011);
    measured.stages = {{"drv-ip", {}, stats}, {"ip-udp", {}, {}}};
    measured.accounting.seen = 31;
    measured.accounting.reported = 7;
    measured.accounting.incomplete = {{"unread", 5}};
    measured.accounting.lost = {{"evicted", 2}};
    SeriesLimit limit(100);
    Totals totals("rx-latency", limit);
    totals.add(results_of(measured));
    totals.set_run(results_of(measured));
    status.measured = totals.results();
    return status;
}

std::string text_of(const Status& status) {
    return written(
        families_of({.version = "1", .revision = "r", .kernel = "6.12", .start_ns = 7'000'000'000}, {&status, 1}),
        Exposition::openmetrics, 7'000'000'000, 5);
}

}  // namespace

TEST_CASE("what a scraper gets is by its Accept") {
    const std::string both =
        std::string(protobuf) + ",application/openmetrics-text;version=1.0.0;q=0.8,text/plain;q=0.5";
    CHECK(exposition_for(both) == Exposition::protobuf);
    CHECK(exposition_for("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                         "text/plain;version=0.0.4;q=0.5,*/*;q=0.1") == Exposition::openmetrics);
    CHECK(exposition_for("text/plain;version=0.0.4;q=0.9, application/openmetrics-text; version=1.0.0; q=0.2") ==
          Exposition::text);
    // Of equal ones the one that says most.
    CHECK(exposition_for("*/*, application/openmetrics-text, " + std::string(protobuf)) == Exposition::protobuf);
    for (const auto* accept :
         {"", "*/*", "text/html,application/xhtml+xml,*/*;q=0.8", "application/json",
          "nonsense;;;,=", "application/openmetrics-text;version=9.9", "application/openmetrics-text;q=0",
          "application/vnd.google.protobuf", "application/openmetrics-text;q=",
          "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text"}) {
        CAPTURE(accept);
        const bool is_named = std::string_view(accept) == "application/openmetrics-text;q=";
        CHECK(exposition_for(accept) == (is_named ? Exposition::openmetrics : Exposition::text));
    }
}

TEST_CASE("a recipe's state, its last error and its probes are metrics") {
    const auto text = text_of(measuring());
    CHECK(has(text, R"(stapgen_build_info{version="1",revision="r",kernel="6.12"} 1)"));
    CHECK(has(text, R"(stapgen_recipe_state{recipe="rx-latency",stapgen_recipe_state="measuring"} 1)"));
    CHECK(has(text, R"(stapgen_recipe_state{recipe="rx-latency",stapgen_recipe_state="waiting"} 0)"));
    CHECK(has(text, R"(stapgen_recipe_last_error{recipe="rx-latency",stapgen_recipe_last_error="over_budget"} 1)"));
    CHECK(has(text, R"(stapgen_recipe_last_error{recipe="rx-latency",stapgen_recipe_last_error="cannot"} 0)"));
    CHECK(has(text, R"(stapgen_recipe_failures_total{recipe="rx-latency",reason="over_budget"} 2)"));
    CHECK(has(text, R"(stapgen_recipe_starts_total{recipe="rx-latency"} 3)"));
    CHECK(has(text, R"x(stapgen_probe_active{recipe="rx-latency",probe="kprobe.function(\"ip_rcv_core\")"} 1)x"));
    CHECK(has(text, R"(stapgen_recipe_cpu_seconds_total{recipe="rx-latency"} 1.5)"));
    CHECK(text.find("stapgen_otlp") == std::string::npos);
    CHECK(text.find("stapgen_probe_cpu") == std::string::npos);
}

TEST_CASE("recordings that were kept are counted, and the latest one is named") {
    auto status = measuring();
    CHECK(has(text_of(status), R"(stapgen_recordings_kept_total{recipe="rx-latency"} 0)"));
    CHECK(text_of(status).find("stapgen_recording_kept_timestamp_seconds{") == std::string::npos);
    status.kept = 3;
    status.last_kept = {17'500'000'000, "/var/lib/a \"b\".rec"};
    CHECK(has(text_of(status), R"(stapgen_recordings_kept_total{recipe="rx-latency"} 3)"));
    CHECK(has(text_of(status),
              R"(stapgen_recording_kept_timestamp_seconds{recipe="rx-latency",file="/var/lib/a \"b\".rec"} 17.5)"));
}

TEST_CASE("empty stages are left out, what is under way is no counter, all counters say since when") {
    const auto text = text_of(measuring());
    CHECK(has(text, R"(stapgen_stage_seconds_count{recipe="rx-latency",stage="drv-ip"} 7)"));
    CHECK(has(text, R"(stapgen_stage_seconds_created{recipe="rx-latency",stage="drv-ip"} 7.000)"));
    CHECK(text.find("ip-udp") == std::string::npos);
    CHECK(has(text, R"(stapgen_incomplete{recipe="rx-latency",cause="unread"} 5)"));
    CHECK(has(text, R"(stapgen_records_total{recipe="rx-latency",fate="lost",cause="evicted"} 2)"));
    CHECK(text.find("fate=\"incomplete\"") == std::string::npos);
    CHECK(text.find("fate=\"unaccounted\"") == std::string::npos);
    CHECK(has(text, R"(stapgen_seen_created{recipe="rx-latency"} 7.000)"));
}
