// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "show/model/texts.h"
#include "written.h"

using namespace stapgen::study;
using stapgen::show::format_named, stapgen::show::Options;

namespace {

Change change(const char* stage, const char* statistic, double before, double after, Verdict verdict, double p) {
    Change result{stage, statistic, 4003, 5003, before, after, after / before - 1, {}, {}, {}, verdict, false};
    result.low = *result.change - 0.02;
    result.high = *result.change + 0.03;
    result.p = p;
    result.is_regression = verdict == Verdict::slower && *result.change > 0.05;
    return result;
}

Comparison slower() {
    Comparison comparison;
    comparison.recipe = "rx-latency";
    comparison.threshold = 0.05;
    comparison.before = {1, 17, 2'000'000'000};
    comparison.after = {2, 29, 1'000'000'000};
    comparison.changes = {change("drv-ip", "50", 4001, 4003, Verdict::same, 1),
                          change("ip-tcp", "50", 5003, 5803, Verdict::slower, 0.0011),
                          change("ip-tcp", "99", 9307, 29107, Verdict::slower, 0.00001)};
    return comparison;
}

std::string text_of(const Comparison& comparison) {
    return written("table", comparison);
}

}  // namespace

TEST_CASE("the sentence names the stage and its largest change") {
    CHECK(comparison_sentence(slower()) ==
          "ip-tcp is slower: p99 +213 % [+211 %, +216 %], from 9.31 us to 29.1 us; no other stage changed "
          "significantly");
}

TEST_CASE("slower and faster stages are both named, at most three of each") {
    auto comparison = slower();
    comparison.changes.push_back(change("tcp-app", "mean", 8009, 4003, Verdict::faster, 0.003));
    for (const char* stage : {"a", "b", "c"})
        comparison.changes.push_back(change(stage, "mean", 100, 111, Verdict::slower, 0.01));
    const auto sentence = comparison_sentence(comparison);
    CHECK(sentence.starts_with("ip-tcp is slower: p99 +213 %"));
    CHECK(sentence.find("; and 1 more stages; tcp-app is faster: mean -50.0 %") != std::string::npos);
}

TEST_CASE("changes below the threshold are not called regressions") {
    auto comparison = slower();
    comparison.threshold = 3;
    CHECK(comparison_sentence(comparison) ==
          "nothing changed by more than 300 %; the largest change: ip-tcp p99 +213 % [+211 %, +216 %], from 9.31 us to "
          "29.1 us");
    comparison.threshold = 1;
    comparison.changes.push_back(change("tcp-app", "mean", 8009, 8209, Verdict::slower, 0.003));
    CHECK(comparison_sentence(comparison).ends_with("; other stages changed by less than 100 %"));
}

TEST_CASE("no change found is not the same as nothing tested") {
    Comparison comparison;
    comparison.changes = {change("drv-ip", "50", 4001, 4003, Verdict::same, 1)};
    CHECK(comparison_sentence(comparison) == "no significant change");
    CHECK(comparison.outcome() == Outcome::no_regression);
    comparison.changes[0].verdict = Verdict::too_few;
    comparison.changes[0].p.reset();
    CHECK(comparison.outcome() == Outcome::none);
    // Two of ten blocks of 5 s; after has enough.
    comparison.before = {.recordings = 1, .blocks = 2, .block_ns = 5'000'000'000, .usable = 2, .needed = 10};
    comparison.after = {.recordings = 1, .blocks = 17, .block_ns = 1'000'000'000, .usable = 17, .needed = 10};
    CHECK(comparison_sentence(comparison) == "no result: before has 2 of 10 blocks, record 40 s more");
    // Uneven ones count as fewer, and it takes as many more of them.
    comparison.after = {.recordings = 1, .blocks = 40, .block_ns = 1'000'000'000, .usable = 7.9, .needed = 10};
    CHECK(comparison_sentence(comparison) ==
          "no result: before has 2 of 10 blocks, record 40 s more; after has 7.9 of 10 blocks, record 11 s more");
    comparison.by_recording = true;
    comparison.before = {.recordings = 5, .blocks = 5, .usable = 3, .needed = 4};
    comparison.after.usable = 10;
    CHECK(comparison_sentence(comparison) == "no result: before has 3 of 4 recordings with values");
    comparison.is_one_sided = true;
    comparison.only_before = {"ip-tcp", "tcp-app"};
    CHECK(comparison_sentence(comparison) == "no result: only before has ip-tcp, tcp-app");
    comparison.is_one_sided = false;
    comparison.changes[0].verdict = Verdict::untested;
    CHECK(comparison_sentence(comparison) == "no result: only the whole run's values are known");
    CHECK(nlohmann::json::parse(written("json", comparison))["result"] == "none");
    CHECK(nlohmann::json::parse(written("json", slower()))["result"] == "regression");
}

TEST_CASE("the table has the sign for what is not significant, and fits 80 columns") {
    auto comparison = slower();
    comparison.changes.push_back(change("rx total", "mean", 8'001'009, 14'003'003, Verdict::untested, 0));
    comparison.changes.back().low.reset();
    comparison.changes.back().p.reset();
    comparison.changes.push_back({"tcp-app", "99.9", 3, 5, {}, {}, {}, {}, {}, {}, Verdict::too_few, false});
    comparison.warnings = {"after: 3 \x1b[31mlost"};
    const auto text = text_of(comparison);
    CHECK(text.substr(text.find("STAGE")) ==
          "STAGE [us] STAT    BEFORE     AFTER CHANGE           95% CI      P\n"
          "drv-ip     p50      4.001     4.003      ~   [-2.0%, +3.0%]  1.000\n"
          "ip-tcp     p50      5.003     5.803 +16.0% [+14.0%, +19.0%]  0.001\n"
          "           p99      9.307    29.107  +213%   [+211%, +216%] <0.001\n"
          "rx total   mean  8001.009 14003.003 +75.0%                -      -\n"
          "tcp-app    p99.9        -         -      -                -      -\n"
          "\n"
          "~: no significant difference (P, corrected for the number of rows, is 0.05 or more)\n"
          "-: not enough samples or blocks of time; record longer\n"
          "A change without an interval was not tested: only the whole run's values are known\n"
          "Before: 17 blocks of 2.00 s; after: 29 blocks of 1.00 s of 2 recordings\n"
          "WARNING: after: 3 \\x1b[31mlost\n");
}

TEST_CASE("slower is red and faster is green where there are colours") {
    auto comparison = slower();
    comparison.changes.push_back(change("tcp-app", "50", 8001, 4003, Verdict::faster, 0.001));
    std::ostringstream out;
    Options options;
    options.screen.colours = true;
    format_named("table").write_comparisons(out, std::vector{stapgen::show::Compared{comparison, {}, {}}}, options);
    const auto text = out.str();
    CHECK(text.find("\x1b[1;31m+16.0%\x1b[0m") != std::string::npos);
    CHECK(text.find("\x1b[32m-50.0%\x1b[0m") != std::string::npos);
    CHECK(text.starts_with("\x1b[1;31mip-tcp is slower"));
    CHECK(text_of(comparison).find('\x1b') == std::string::npos);
}

TEST_CASE("JSON has every key, and null for what is not known") {
    auto comparison = slower();
    comparison.changes.push_back({"tcp-app", "99.9", 3, 5, {}, {}, {}, {}, {}, {}, Verdict::too_few, false});
    const auto out = written("json", comparison);
    const auto json = nlohmann::json::parse(out);
    CHECK(json["schema"] == "stapgen.compare/1");
    CHECK(json["regression"] == true);
    CHECK(json["before"]["blocks"] == 17);
    CHECK(json["after"]["block_ns"] == 1'000'000'000);
    REQUIRE(json["changes"].size() == 4);
    CHECK(json["changes"][2]["after_ns"] == 29107);
    CHECK(json["changes"][2]["verdict"] == "slower");
    CHECK(json["changes"][2]["regression"] == true);
    CHECK(json["changes"][3]["p"].is_null());
    CHECK(json["changes"][3]["verdict"] == "too_few");
}

TEST_CASE("ndjson and CSV have a line for each change") {
    auto comparison = slower();
    comparison.changes[0].stage = "a \"b\", c";
    const auto ndjson = written("ndjson", comparison);
    std::istringstream lines(ndjson);
    std::vector<nlohmann::json> parsed;
    for (std::string line; std::getline(lines, line);)
        parsed.push_back(nlohmann::json::parse(line));
    REQUIRE(parsed.size() == 4);
    CHECK(parsed[0]["recipe"] == "rx-latency");
    CHECK_FALSE(parsed[0].contains("changes"));
    CHECK(parsed[3]["statistic"] == "99");

    const auto csv = written("csv", comparison);
    CHECK(
        csv.starts_with("recipe,stage,statistic,n_before,n_after,before_ns,after_ns,change,change_low,"
                        "change_high,p,verdict,regression\n"
                        "rx-latency,\"a \"\"b\"\", c\",50,4003,5003,4001.0,4003.0,"));
}
