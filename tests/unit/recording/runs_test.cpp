// SPDX-License-Identifier: GPL-2.0-or-later
#include <limits>

#include "recording/reader.h"
#include "scratch.h"

using namespace stapgen::recording;

namespace {

std::string head_of(std::string_view run, std::int64_t part) {
    Header header;
    header.run_id = run;
    header.part = part;
    return header_line(header);
}

}  // namespace

TEST_CASE("files are grouped by run and put in the order of their parts, and what is missing is reported") {
    const Scratch scratch;
    const auto a2 = scratch.put("a2", head_of("a", 2)), a7 = scratch.put("a7", head_of("a", 7)),
               a3 = scratch.put("a3", head_of("a", 3)), b0 = scratch.put("b0", head_of("b", 0)),
               text = scratch.put("text", "rx 17\n");
    const auto runs = runs_of({a7, text, a3, b0, "-", a2, text}).value();
    REQUIRE(runs.size() == 5);
    CHECK(runs[0].id == "a");
    CHECK(runs[0].files == std::vector{a2, a3, a7});
    CHECK(runs[0].missing == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 1}, {4, 6}});
    CHECK(runs[1].files == std::vector{text});
    CHECK(runs[2].files == std::vector{b0});
    CHECK(runs[2].missing.empty());
    CHECK(runs[3].files == std::vector<std::filesystem::path>{"-"});
    CHECK(runs[4].files == std::vector{text});
}

TEST_CASE("part numbers at the ends of their range do no harm") {
    const Scratch scratch;
    constexpr auto largest = std::numeric_limits<std::int64_t>::max(),
                   smallest = std::numeric_limits<std::int64_t>::min();
    const auto last = scratch.put("last", head_of("a", largest)), first = scratch.put("first", head_of("a", smallest));
    const auto runs = runs_of({last, first}).value();
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].files == std::vector{first, last});
}

TEST_CASE("one part twice, and a file that is not there, are errors") {
    const Scratch scratch;
    const auto one = scratch.put("one", head_of("a", 1)), copy = scratch.put("copy", head_of("a", 1));
    const auto twice = runs_of({one, copy});
    REQUIRE_FALSE(twice);
    CHECK(twice.error().what.find("the same part") != std::string::npos);
    CHECK_FALSE(runs_of({scratch / "none"}));
}
