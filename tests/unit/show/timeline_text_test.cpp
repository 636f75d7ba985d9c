// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "show/model/slow_records.h"
#include "show/text/sections.h"

using namespace stapgen;
using table::Breakdown;

namespace {

rows::Results results_of(const Breakdown& breakdown, const std::vector<table::SlowRecord>& records) {
    rows::Results results;
    for (const auto& record : records) {
        table::Durations stages;
        for (std::size_t i = 0; i < record.stages.size(); ++i)
            stages.emplace_back(breakdown.stages().at(i), record.stages[i]);
        results.of<rows::Slowest>().push_back(
            {0, breakdown.direction(), record.total_ns, record.time_ns, stages, record.of});
    }
    results.of<rows::Way>().push_back({0, breakdown.direction()});
    return results;
}

/// Without the heading and the empty line at the end.
std::string text_of(const Breakdown& breakdown, const std::vector<table::SlowRecord>& records, std::size_t width = 80) {
    std::ostringstream out;
    const auto results = results_of(breakdown, records);
    draw(show::Text{out, results, {.screen = {.width = width}}}, show::section::Slowest());
    const auto text = out.str();
    const auto begin = text.find('\n') + 1;
    CHECK(text.starts_with("The slowest "));
    return text.substr(begin, text.size() - begin - 1);
}

}  // namespace

TEST_CASE("rows have one length, fit the width, and every step has a mark") {
    const Breakdown breakdown("", {"a", "softirq-poll"}, 5);
    const auto text =
        text_of(breakdown, {{1'000'000'007, std::nullopt, {1'000'000'000, 7}, {}}, {3, std::nullopt, {0, 3}, {}}}, 61);
    for (const auto line : base::split(base::trim(text), '\n')) {
        if (line.find('|') == std::string_view::npos) continue;
        CHECK(line.size() <= 61);
        CHECK(line.find('#') != std::string_view::npos);
    }
    CHECK(text.find("#2 0.003\n") != std::string::npos);
    CHECK(text.find("+1000000.000") != std::string::npos);
}

TEST_CASE("stages that add up to more than a number holds do no harm") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    const Breakdown breakdown("", {"a", "b", "c"}, 5);
    const std::vector<table::SlowRecord> records{{most, std::nullopt, {most, most, 1}, {}}, {0, std::nullopt, {}, {}}};
    const auto slowest = show::slowest_of(results_of(breakdown, records), 0);
    REQUIRE(slowest.size() == 2);
    CHECK(slowest[0].length_ns == most);
    CHECK(slowest[0].steps.size() == 3);
    CHECK_FALSE(text_of(breakdown, {{0, std::nullopt, {most, most, 1}, {}}}).empty());
    CHECK(slowest[1].length_ns == 1);
}
