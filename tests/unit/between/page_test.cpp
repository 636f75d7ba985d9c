// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/page.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace stapgen::between;

namespace {

/// A request of 1,000,000 ns whose server had 307,000 of them.
Request usual() {
    return {.total_ns = 1'000'000,
            .ask_ns = 11'000,
            .between_ns = 653'000,
            .forth_ns = 401'000,
            .back_ns = 252'000,
            .server_ns = 307'000,
            .reply_ns = 17'000,
            .read_ns = 12'000};
}

Result result_of(const Request& request, std::optional<std::int64_t> error) {
    Result result{.client = "app1", .server = "db1", .requests = 1};
    result.parts = {{.where = "client", .share = 0.023},
                    {.where = "between", .share = 0.653},
                    {.where = "server", .share = 0.307},
                    {.where = "reply", .share = 0.017}};
    result.ways = {{.way = "forth"}, {.way = "back"}};
    result.slowest = {request};
    result.one_clock = !error && request.forth_ns;
    if (request.forth_ns) result.offset_error_ns = error;
    if (error && request.forth_ns) result.fastest_ns = 2 * *error;
    return result;
}

struct Piece {
    long thousands;
    bool uncertain;
    bool operator==(const Piece&) const = default;
};
/// Of its bar, in thousandths of the request.
std::vector<Piece> pieces_of(const Result& result) {
    const auto page = page_of({.results = {result}, .missing = {}});
    const auto& sections = page.runs.front().sections;
    const auto slowest = std::ranges::find(sections, "slowest", &stapgen::show::html::Section::id);
    REQUIRE(slowest != sections.end());
    std::vector<Piece> pieces;
    for (const auto& segment : slowest->timelines.front().rows.front().segments)
        pieces.push_back({std::lround(segment.part * 1000), segment.uncertain});
    CHECK(std::accumulate(pieces.begin(), pieces.end(), 0L,
                          [](long sum, const Piece& piece) { return sum + piece.thousands; }) == 1000);
    return pieces;
}

}  // namespace

TEST_CASE("a request's bar has its steps in order, and what the clocks leave open is uncertain") {
    const auto request = usual();
    CHECK(pieces_of(result_of(request, {})) ==
          std::vector<Piece>{{11, false}, {401, false}, {307, false}, {252, false}, {17, false}, {12, false}});
    CHECK(pieces_of(result_of(request, 53'000)) == std::vector<Piece>{{11, false},
                                                                      {348, false},
                                                                      {53, true},
                                                                      {53, true},
                                                                      {201, false},
                                                                      {53, true},
                                                                      {53, true},
                                                                      {199, false},
                                                                      {17, false},
                                                                      {12, false}});
}

TEST_CASE("no part of a server is certain that may begin after it may end, and no error is longer than a way") {
    CHECK(
        pieces_of(result_of(usual(), 300'000)) ==
        std::vector<Piece>{{11, false}, {101, false}, {300, true}, {307, true}, {252, true}, {17, false}, {12, false}});
    auto at_once = usual();
    at_once.forth_ns = 0;
    at_once.back_ns = 653'000;
    CHECK(pieces_of(result_of(at_once, 101'000)) ==
          std::vector<Piece>{
              {11, false}, {101, true}, {206, false}, {101, true}, {552, false}, {17, false}, {12, false}});
}

TEST_CASE("without clocks both ways are one piece") {
    auto request = usual();
    request.forth_ns = request.back_ns = std::nullopt;
    CHECK(pieces_of(result_of(request, {})) ==
          std::vector<Piece>{{11, false}, {653, true}, {307, true}, {17, false}, {12, false}});
    const auto place = placed(request, result_of(request, {}));
    CHECK(place.forth_ns == 326'500);
    CHECK(place.earlier_ns == 326'500);
    CHECK(place.back_ns == 326'500);
    CHECK(place.later_ns == 326'500);
}

TEST_CASE("bars of parts are as wide as what they have, and what is less than nothing has no width") {
    auto result = result_of(usual(), {});
    result.slow = 5;
    result.threshold_ns = 900'000;
    for (const auto& [place, excess] : {std::pair(0, 0.0), {1, 1.25}, {2, -0.25}, {3, 0.0}})
        result.parts[static_cast<std::size_t>(place)].excess = excess;
    const auto page = page_of({.results = {result}, .missing = {}});
    const auto& stacks = page.runs.front().sections.front().stacks;
    REQUIRE(stacks.size() == 2);
    CHECK(stacks[0].segments.size() == 4);
    CHECK(stacks[0].segments[2].part == doctest::Approx(0.307));
    REQUIRE(stacks[1].segments.size() == 1);
    CHECK(stacks[1].segments[0].part == doctest::Approx(1));
    CHECK(stacks[1].legend.size() == 2);
}

TEST_CASE("an answer without results is a page, too") {
    const auto page = page_of({.results = {}, .missing = {"of app1's 7 requests none"}});
    REQUIRE(page.runs.size() == 1);
    CHECK(page.runs.front().warnings.size() == 1);
}
