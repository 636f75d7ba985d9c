// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/merge.h"

#include <doctest/doctest.h>

#include <limits>

#include "rows/results.h"

using namespace stapgen;
using table::Group, table::Histogram, table::Place, table::Shown;

namespace {

Histogram histogram_of(std::initializer_list<std::int64_t> values) {
    Histogram histogram;
    for (const auto value : values)
        histogram.add(value);
    return histogram;
}

Place tcp_rcv() {
    return {.address = 0xffffffff81790071, .symbol = "tcp_v4_rcv", .offset = 0x71};
}

/// A column of each merge rule.
struct Seen {
    std::int64_t interval = 0;
    Place place{};
    std::string comm{};
    std::int64_t count = 0;
    std::optional<std::int64_t> first{}, last{};
    std::optional<std::string> meaning{}, address{};
    std::vector<rows::Cause> causes{};

    static constexpr table::About about{.name = "seen", .most = 5};
    static constexpr void columns(auto&& column) {
        column(table::Continues(), "interval", &Seen::interval);
        column(table::Key(), "place", &Seen::place);
        column(table::Key(), "comm", &Seen::comm);
        column(table::Sum(), "count", &Seen::count);
        column(table::Smallest(), table::Moment("first"), &Seen::first);
        column(table::Largest(), table::Moment("last"), &Seen::last);
        column(table::First(), "meaning", &Seen::meaning);
        column(table::Same(), "address", &Seen::address);
        column(table::Sum(), "causes", &Seen::causes);
    }
};
using Tables = table::TablesOf<Seen, rows::Call>;

Seen seen(std::int64_t interval, std::string comm, std::int64_t count) {
    return {.interval = interval, .place = tcp_rcv(), .comm = std::move(comm), .count = count};
}

rows::Stage stage(std::string name, Group group, Histogram histogram) {
    return {std::move(name), std::move(group), std::move(histogram)};
}

/// Stages, what they are of, and numbers of values.
std::string text_of(const std::vector<rows::Stage>& stages) {
    std::string text;
    for (const auto& row : stages) {
        const auto* number = std::get_if<std::int64_t>(&row.group.front().value);
        text += row.stage + (number != nullptr ? std::to_string(*number) : row.group.front().key) + ' ' +
                std::to_string(row.distribution->n()) + ' ';
    }
    return text;
}

}  // namespace

TEST_CASE("rows of the same key become one, each cell by its rule, in the order of the first") {
    std::vector<Seen> rows{{1, tcp_rcv(), "a", 3, 70, 71, {}, "x", {{"lost", 1}}},
                           {1, tcp_rcv(), "b", 5, 10, 11, "closed", "x", {}},
                           {1, tcp_rcv(), "a", 7, 30, 99, "no socket", "x", {{"late", 2}, {"lost", 4}}},
                           {2, tcp_rcv(), "a", 11, {}, {}, {}, "x", {}},
                           {1, tcp_rcv(), "a", 13, {}, 5, "later", "y", {}}};
    table::fold(rows);
    REQUIRE(rows.size() == 3);
    const auto& [interval, place, comm, count, first, last, meaning, address, causes] = rows[0];
    CHECK(comm == "a");
    CHECK(count == 23);
    CHECK(first == 30);
    CHECK(last == 99);
    CHECK(meaning == "no socket");
    CHECK_FALSE(address);
    REQUIRE(causes.size() == 2);
    CHECK(causes[0].count == 5);
    CHECK(causes[1].name == "late");
    CHECK(rows[1].comm == "b");
    CHECK(rows[1].address == "x");
    CHECK(rows[2].interval == 2);
    CHECK_FALSE(rows[2].first);
    rows = {seen(0, "a", std::numeric_limits<std::int64_t>::max() - 3), seen(0, "a", 7)};
    table::fold(rows);
    CHECK(rows.front().count == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("a later measurement's numbers follow, rows that stay apart do, and what is beyond a limit is counted") {
    Tables into, more;
    into.of<Seen>() = {seen(3, "a", 1), seen(4, "a", 2)};
    more.of<Seen>() = {seen(0, "a", 3), seen(1, "b", 4), seen(1, "c", 5), seen(1, "d", 6)};
    more.of<rows::Call>().is_there = true;
    into.of<rows::Call>() = {rows::Call{.packet = 7}};
    more.of<rows::Call>() = {rows::Call{.packet = 1}, rows::Call{.packet = 1}};
    table::append(into, more);
    const auto& rows = into.of<Seen>();
    REQUIRE(rows.size() == 5);
    CHECK(rows[2].interval == 5);
    CHECK(rows[3].interval == 6);
    CHECK(rows.left_out == 1);
    CHECK(into.of<rows::Call>().size() == 3);
    CHECK(into.of<rows::Call>().back().packet == 8);
    CHECK(more.of<Seen>().size() == 4);
}

TEST_CASE("a distribution that rows share changes in the one that is added to only") {
    const auto kept = stage("app", {}, histogram_of({17, 19}));
    std::vector<rows::Stage> rows{kept, stage("app", {}, histogram_of({23})), kept};
    table::fold(rows);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].distribution->n() == 5);
    CHECK(rows[0].distribution->whole_sum() == 95);
    CHECK(kept.distribution->n() == 2);
}

TEST_CASE("keys are told apart by all that is in their cells") {
    const std::vector<rows::Drop> all{{},
                                      {.place = tcp_rcv()},
                                      {.place = {.symbol = "tcp_v4_rcv"}},
                                      {.place = {.symbol = ""}},
                                      {.reason = {2, {}}},
                                      {.reason = {2, "NO_SOCKET"}},
                                      {.group = {{"a", std::int64_t{1}}}},
                                      {.group = {{"a", "1"}}},
                                      {.group = {{"other", true}}},
                                      {.group = {{"a", "1"}, {"b", ""}}}};
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = 0; j < all.size(); ++j)
            CHECK((table::key_of(all[i]) == table::key_of(all[j])) == (i == j));
    }
    const rows::Who without, empty{.frames = table::Path()}, one{.frames = table::Path{tcp_rcv()}};
    CHECK(table::key_of(without) != table::key_of(empty));
    CHECK(table::key_of(empty) != table::key_of(one));
}

TEST_CASE("the largest groups are those that come first, and the others are one") {
    const auto group = [](std::int64_t pid) { return Group{{"pid", pid}}; };
    std::vector<rows::Stage> rows{
        stage("a", {}, histogram_of({1, 2, 3, 4, 5, 6})), stage("a", group(3), histogram_of({1, 2})),
        stage("b", group(3), histogram_of({})),           stage("a", group(5), histogram_of({3})),
        stage("a", group(7), histogram_of({4, 5})),       stage("b", group(7), histogram_of({6}))};
    CHECK(text_of(table::largest_groups(rows, 1)) == "a3 2 aother 3 bother 1 ");
    CHECK(table::largest_groups(rows, 3).size() == 4);
    // A row of a group that is shown, behind one of the others: that is the last one all the same.
    rows.push_back(stage("b", group(3), histogram_of({8})));
    CHECK(text_of(table::largest_groups(rows, 1, "rest")) == "a3 2 b3 1 arest 3 brest 1 ");
    // Stages of the others stand in their order, also where the first group had none of one.
    rows = {stage("a", group(3), histogram_of({1})), stage("a", group(7), histogram_of({})),
            stage("b", group(7), histogram_of({6})), stage("c", group(7), histogram_of({})),
            stage("a", group(9), histogram_of({5}))};
    CHECK(text_of(table::largest_groups(rows, 1)) == "a3 1 aother 1 bother 1 ");
    rows.erase(rows.begin() + 1, rows.end());
    CHECK(table::largest_groups(rows, 3).empty());
}

TEST_CASE("a stage's share is of the time of the stages of its directions and its group") {
    const auto stage_of = [](std::string name, std::int64_t pid, std::int64_t ns) {
        return stage(std::move(name), pid == 0 ? Group{} : Group{{"pid", pid}}, histogram_of({ns}));
    };
    std::vector<rows::Stage> stages{stage_of("ip", 0, 30),     stage_of("tcp", 0, 10), stage_of("send", 0, 60),
                                    stage_of("total", 0, 100), stage_of("ip", 7, 5),   stage_of("tcp", 7, 15),
                                    stage_of("ip", 8, 0)};
    put_shares(stages, {{.number = 0, .stages = {{"ip", 30}, {"tcp", 10}, {"send", 0}}},
                        {.number = 1, .stages = {{"send", 60}}}});
    std::vector<std::optional<double>> shares;
    for (const auto& row : stages)
        shares.push_back(row.share);
    CHECK(shares == std::vector<std::optional<double>>{0.75, 0.25, 1.0, 1.0, 0.25, 0.75, std::nullopt});
}
