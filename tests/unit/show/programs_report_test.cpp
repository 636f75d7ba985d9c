// SPDX-License-Identifier: GPL-2.0-or-later
// Of the formats for programs what tests/golden/formats does not show.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "full_summary.h"
#include "has.h"
#include "written.h"

using namespace stapgen::summaries;
using nlohmann::json;

TEST_CASE("a report of an interval says which, and its drops say the same, in one line if asked for") {
    const auto text = written("ndjson", {full_summary()}, {.interval = 1});
    CHECK(text.find('\n') == text.size() - 1);
    const auto document = json::parse(text);
    CHECK(document["interval"] == 1);
    CHECK(document["drops"][0]["interval"] == 1);
    CHECK_FALSE(json::parse(written("json", {full_summary()})).contains("interval"));
}

TEST_CASE("text of the input is no formula to a spreadsheet, and does not break a row") {
    Summary summary;
    for (const char* name : {"=1", "+1", "-1", "@1", "  =1"}) {
        summary.recipe = name;
        CHECK(has(written("csv", {summary}), "\n1,'" + std::string(name) + ",account,"));
    }
    summary.recipe = "\t=1";
    CHECK(has(written("csv", {summary}), "\n1,\\x09=1,account,"));
}
