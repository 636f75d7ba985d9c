// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "full_summary.h"
#include "written.h"

using namespace stapgen;
using namespace stapgen::summaries;

namespace {

std::string metrics_of(const std::vector<Summary>& reports, const stapgen::show::Options& options = {}) {
    return written("openmetrics", reports, options);
}

bool has_metric(const std::string& text, std::string_view line) {
    return text.find("\n" + std::string(line) + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("a histogram has 12 buckets, or the finest that --buckets allows") {
    Summary summary;
    summary.stages = {{"a", {}, {}}};
    for (const auto& [most, size, last] : {std::tuple<std::size_t, std::size_t, double>{12, 12, 4.294967295},
                                           {52, 27, 68.719476735},
                                           {105, 105, 68.719476735}}) {
        const auto text = most == 12 ? metrics_of({summary}) : metrics_of({summary}, {.buckets = most});
        std::vector<double> ends;
        const std::string_view before = "stage=\"a\",le=\"";
        for (auto at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
            const auto end = std::strtod(&text[at + before.size()], nullptr);
            if (std::isfinite(end)) ends.push_back(end);
        }
        CHECK(ends.size() == size);
        CHECK(ends.front() == 1.023e-6);
        CHECK(ends.back() == last);
    }
}

TEST_CASE("buckets count exactly: a value at the end of one is in it, the next number is not") {
    Summary summary;
    summary.recipe = "r";
    table::Histogram stats;
    for (const std::int64_t value : {std::int64_t{-3}, std::int64_t{0}, std::int64_t{1023}, std::int64_t{1024},
                                     std::int64_t{1279}, std::int64_t{1280}, std::int64_t{68'719'476'735},
                                     std::int64_t{68'719'476'736}, table::Histogram::largest_binned + 1}) {
        stats.add(value);
    }
    summary.stages = {{"s", {}, stats}};
    const auto text = metrics_of({summary}, {.buckets = 105});
    CHECK(has_metric(text, R"(stapgen_stage_seconds_bucket{recipe="r",stage="s",le="1.023e-06"} 3)"));
    CHECK(has_metric(text, R"(stapgen_stage_seconds_bucket{recipe="r",stage="s",le="1.279e-06"} 5)"));
    CHECK(has_metric(text, R"(stapgen_stage_seconds_bucket{recipe="r",stage="s",le="1.535e-06"} 6)"));
    CHECK(has_metric(text, R"(stapgen_stage_seconds_bucket{recipe="r",stage="s",le="68.719476735"} 7)"));
    CHECK(has_metric(text, R"(stapgen_stage_seconds_bucket{recipe="r",stage="s",le="+Inf"} 9)"));
    CHECK(has_metric(text, R"(stapgen_stage_seconds_count{recipe="r",stage="s"} 9)"));
}

TEST_CASE("labels are escaped, and groups have a family of their own") {
    const auto text = metrics_of({full_summary()}, {.top = 2});
    CHECK(has_metric(
        text,
        R"(stapgen_group_stage_seconds_count{recipe="rx-latency",stage="drv-ip",pid="309",comm="a\"b,\\c\\x0a\\xff"} 401)"));
    // What is shown no more, and what had found no room: 7 and 98.
    CHECK(
        has_metric(text, R"(stapgen_group_stage_seconds_count{recipe="rx-latency",stage="drv-ip",other="true"} 105)"));
    CHECK(text.find("stapgen_stage_seconds_count{recipe=\"rx-latency\",stage=\"drv-ip\",pid") == std::string::npos);
    CHECK(text.ends_with("\n# EOF\n"));
}

TEST_CASE("keys that are no label names, or are taken, become some") {
    Summary summary;
    summary.recipe = "r";
    for (std::int64_t i = 0; i < 2; ++i)
        summary.stages.push_back({"s", {{"stage", i}, {"a-b", i}, {"1st", i}, {"__x", i}}, repeated(7, 3)});
    CHECK(has_metric(metrics_of({summary}),
                     "stapgen_group_stage_seconds_count{recipe=\"r\",stage=\"s\",group_stage=\"1\","
                     "a_b=\"1\",group_1st=\"1\",group___x=\"1\"} 3"));
}

TEST_CASE("counts neither overflow nor go below zero") {
    Summary summary;
    summary.recipe = "r";
    summary.accounting.seen = std::numeric_limits<std::int64_t>::max();
    summary.accounting.filtered = -3;
    const auto text = metrics_of({summary, summary});
    CHECK(has_metric(text, R"(stapgen_seen_total{recipe="r"} 9223372036854775807)"));
    CHECK(has_metric(text, R"(stapgen_records_total{recipe="r",fate="filtered",cause=""} 0)"));
    CHECK(metrics_of({}) == "# EOF\n");
}
