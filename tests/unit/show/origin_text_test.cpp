// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "analyze/account_text.h"
#include "has.h"
#include "written.h"

using namespace stapgen;

namespace {

recording::Origin at(const std::string& host, const std::string& port) {
    recording::Origin origin;
    origin.host = host;
    origin.kernel = "6.12";
    origin.command = {"stapgen", "rx-latency", "--port", port};
    origin.filters = {{"port", port}};
    return origin;
}

rows::Summary filtered(std::vector<recording::Origin> origins) {
    rows::Summary summary;
    summary.recipe = "rx-latency";
    summary.origins = std::move(origins);
    summary.accounting.seen = summary.accounting.filtered = 307;
    summary.accounting.closed = true;
    return summary;
}

std::string head_and_account(const rows::Summary& summary) {
    return written("table", {summary});
}

}  // namespace

TEST_CASE("the head of a report says where it was measured and how, and the account by what was filtered") {
    const auto text = head_and_account(filtered({at("web17", "80")}));
    CHECK(text.starts_with("rx-latency\non web17, Linux 6.12: stapgen rx-latency --port 80\n\n"));
    CHECK(has(text, "307 seen = 0 reported + 307 filtered (--port 80) + 0 incomplete + 0 lost\n"));
    CHECK(head_and_account(filtered({})).starts_with("rx-latency\n\n"));
    CHECK(has(head_and_account(filtered({})), "307 filtered + 0"));
}

TEST_CASE("of several measurements each host is reported once, and each of their filters") {
    const auto summary = filtered({at("web17", "80"), at("web18", "81"), at("web17", "80")});
    CHECK(analyze::hosts_of(summary) == std::vector<std::string>{"web17, Linux 6.12", "web18, Linux 6.12"});
    CHECK(analyze::origin_lines(summary).size() == 2);
    CHECK(analyze::filters_text(summary) == "--port 80 or --port 81");
    std::vector<recording::Origin> many;
    for (int i = 0; i < 10; ++i)
        many.push_back(at("web" + std::to_string(i), "80"));
    const auto lines = analyze::origin_lines(filtered(many));
    REQUIRE(lines.size() == 5);
    CHECK(lines.back() == "and 6 more");
}

TEST_CASE("a host's name brings no control character") {
    CHECK(analyze::origin_lines(filtered({at("web\x1b[2J", "80")})).front().starts_with("on web\\x1b[2J, Linux"));
}

TEST_CASE("the document says the same for programs") {
    const auto out = written("json", {filtered({at("web17", "80"), {}})});
    const auto origins = nlohmann::json::parse(out).at("origins");
    CHECK(origins.at(0) == nlohmann::json{{"host", "web17"},
                                          {"kernel", "6.12"},
                                          {"command", {"stapgen", "rx-latency", "--port", "80"}},
                                          {"filters", {{"port", "80"}}},
                                          {"machine", nullptr},
                                          {"labels", nlohmann::json::object()},
                                          {"build_id", nullptr},
                                          {"sample", 1},
                                          {"definition", nullptr},
                                          {"functions", nlohmann::json::array()}});
    CHECK(origins.at(1).at("host").is_null());
    CHECK(origins.at(1).at("filters") == nlohmann::json::object());
}

TEST_CASE("what a report is of stands in each format, and why it is apart") {
    auto origin = at("web17", "80");
    origin.machine = "89ab4def0123";
    origin.labels = {{"dc", "fra1"}, {"rack", "\x1b[2J"}};
    origin.build_id = "0123abcdffff";
    origin.sample = 8;
    origin.definition = "1f2e3d4c5b6a";
    auto summary = filtered({origin});
    summary.merge_conflict = "they differ in filters (none; --port 80)";
    const auto text = written("table", {summary});
    CHECK(has(text, "on web17 (dc=fra1, rack=\\x1b[2J), Linux 6.12: stapgen rx-latency --port 80\n"));
    CHECK(has(text, "definition 1f2e3d4c5b6a, kernel build 0123abcd, machine 89ab4def; not added to"));
    CHECK(
        has(written("html", {summary}), "definition 1f2e3d4c5b6a, kernel build 0123abcd, machine 89ab4def; not added"));
    const auto document = nlohmann::json::parse(written("json", {summary}));
    CHECK(document.at("definition") == "1f2e3d4c5b6a");
    CHECK(document.at("apart") == summary.merge_conflict);
    CHECK(document.at("origins").at(0).at("labels").at("dc") == "fra1");
    CHECK(document.at("origins").at(0).at("sample") == 8);
    CHECK(document.at("origins").at(0).at("build_id") == "0123abcdffff");
    const auto csv = written("csv", {summary});
    CHECK(has(csv, "1,rx-latency,origin,1,,,,machine,89ab4def0123,\n"));
    CHECK(has(csv, "1,rx-latency,origin,1,,,,label:dc,fra1,\n"));
    CHECK(has(csv, "1,rx-latency,origin,1,,,,definition,1f2e3d4c5b6a,\n"));
    const auto metrics = written("openmetrics", {summary});
    CHECK(has(metrics,
              "stapgen_run_info{recipe=\"rx-latency\",host=\"web17\",machine=\"89ab4def0123\",kernel=\"6.12\","
              "build_id=\"0123abcdffff\",filters=\"port\",sample=\"8\",definition=\"1f2e3d4c5b6a\","
              "label_dc=\"fra1\",label_rack=\"\\\\x1b[2J\"} 1\n"));
    CHECK(has(metrics, "stapgen_seen_total{recipe=\"rx-latency\",definition=\"1f2e3d4c5b6a\"} 307\n"));
    summary.merge_conflict.clear();
    CHECK(has(written("openmetrics", {summary}), "stapgen_seen_total{recipe=\"rx-latency\"} 307\n"));
}

TEST_CASE("of several recordings the length is what was measured, not what lies between") {
    auto summary = filtered({});
    summary.start_epoch_ns = 1795180848000000000;
    summary.end_epoch_ns = *summary.start_epoch_ns + 113'000'000'000;
    CHECK(has(analyze::span_text(summary), ", for 113 s"));
    summary.recordings = 5;
    summary.recorded_ns = 13'500'000'000;
    CHECK(has(analyze::span_text(summary), ", 5 recordings of 13.5 s together, within 113 s"));
}
