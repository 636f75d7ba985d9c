// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/table.h"

#include <doctest/doctest.h>

using namespace stapgen::table;

namespace {

Histogram histogram_of(std::initializer_list<std::int64_t> values) {
    Histogram histogram;
    for (const auto value : values)
        histogram.add(value);
    return histogram;
}

Table drops() {
    return {"drops",
            "drop",
            {{"interval", Type::count, Meet::key},
             {"place", Type::place, Meet::key},
             {"comm", Type::text, Meet::key},
             {"count", Type::count, Meet::add},
             {"first", Type::time, Meet::smallest},
             {"last", Type::time, Meet::largest},
             {"meaning", Type::text, Meet::first},
             {"address", Type::text, Meet::same}}};
}

Place tcp_rcv() {
    return {.address = 0xffffffff81790071, .symbol = "tcp_v4_rcv", .offset = 0x71};
}

}  // namespace

TEST_CASE("rows of the same key become one, each cell as its column says, in the order of the first") {
    auto table = drops();
    table.rows = {{1L, tcp_rcv(), "a", 3L, 70L, 71L, {}, "x"},
                  {1L, tcp_rcv(), "b", 5L, 10L, 11L, "closed", "x"},
                  {1L, tcp_rcv(), "a", 7L, 30L, 99L, "no socket", "x"},
                  {2L, tcp_rcv(), "a", 11L, {}, {}, {}, "x"},
                  {1L, tcp_rcv(), "a", 13L, {}, 5L, "later", "y"}};
    fold(table);
    REQUIRE(table.rows.size() == 3);
    CHECK(table.rows[0] == Row{1L, tcp_rcv(), "a", 23L, 30L, 99L, "no socket", {}});
    CHECK(table.rows[1] == Row{1L, tcp_rcv(), "b", 5L, 10L, 11L, "closed", "x"});
    CHECK(table.rows[2] == Row{2L, tcp_rcv(), "a", 11L, {}, {}, {}, "x"});
}

TEST_CASE("a total is a table without a key") {
    auto table = drops();
    table.rows = {{1L, tcp_rcv(), "a", 3L, {}, {}, {}, "x"}, {2L, tcp_rcv(), "a", 5L, {}, {}, {}, "x"}};
    const auto total = without(table, {"interval", "no such column"});
    REQUIRE(total.rows.size() == 1);
    CHECK(total.at(total.rows[0], "count") == Value(8L));
    CHECK_FALSE(total.find("interval"));
    CHECK(total.at(total.rows[0], "interval") == Value());
    CHECK(sum_of(table, "count") == 8);
}

TEST_CASE("tables of several runs meet by their keys, whatever columns each has") {
    Table one{"stages", "stage", {{"stage", Type::text, Meet::key}, {"stats", Type::distribution, Meet::add}}};
    one.rows = {{"driver", histogram_of({7, 11})}, {"app", histogram_of({13})}};
    Table other{
        "stages",
        "stage",
        {{"host", Type::text, Meet::key}, {"stage", Type::text, Meet::key}, {"stats", Type::distribution, Meet::add}}};
    other.rows = {{{}, "app", histogram_of({17, 19})}, {"web1", "app", histogram_of({23})}};
    const auto kept = other.rows[0][2];
    add(one, other);
    REQUIRE(one.rows.size() == 3);
    REQUIRE(one.columns.size() == 3);
    CHECK(held<Histogram>(one.at(one.rows[1], "stats"))->n() == 3);
    CHECK(held<Histogram>(one.at(one.rows[1], "stats"))->whole_sum() == 49);
    CHECK(one.at(one.rows[2], "host") == Value("web1"));
    CHECK(one.at(one.rows[0], "host") == Value());
    // What was added is as it was.
    CHECK(held<Histogram>(kept)->n() == 2);
}

TEST_CASE("values are told apart by what they hold, and counts stop at the largest number") {
    const auto key = [](const Value& value) {
        std::string text;
        append_key(value, text);
        return text;
    };
    const std::vector<Value> all{{},
                                 false,
                                 true,
                                 0L,
                                 1L,
                                 0.0,
                                 "",
                                 "\1",
                                 Place{},
                                 tcp_rcv(),
                                 Reason{},
                                 Reason{2, "NO_SOCKET"},
                                 Path{},
                                 Path{Place{}},
                                 Path{tcp_rcv()},
                                 Group{},
                                 Group{{"a", 1L}},
                                 Group{{"a", "1"}},
                                 Group{{"other", true}},
                                 Texts{},
                                 Labels{{"dc", "fra1"}},
                                 Durations{},
                                 Durations{{"a", {}}},
                                 Durations{{"a", 0}},
                                 Durations{{"a", 0}, {"b", {}}}};
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = 0; j < all.size(); ++j) {
            CHECK((key(all[i]) == key(all[j])) == (i == j));
            CHECK((all[i] == all[j]) == (i == j));
        }
    }
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    Table table{"counts", "count", {{"count", Type::count, Meet::add}}, {{most - 3}, {7L}}};
    fold(table);
    CHECK(table.rows == std::vector<Row>{{most}});
}

TEST_CASE("the largest groups are those that come first, and the others are one") {
    Table table{"stages",
                "stage",
                {{"stage", Type::text, Meet::key},
                 {"group", Type::group, Meet::key},
                 {"distribution", Type::distribution, Meet::add}}};
    const auto group = [](std::int64_t pid) { return Group{{"pid", pid}}; };
    table.rows = {{"a", Group{}, histogram_of({1, 2, 3, 4, 5, 6})},
                  {"a", group(3), histogram_of({1, 2})},
                  {"b", group(3), histogram_of({})},
                  {"a", group(5), histogram_of({3})},
                  {"a", group(7), histogram_of({4, 5})},
                  {"b", group(7), histogram_of({6})}};
    const Group other{{"other", true}};
    CHECK(largest_groups(table, 1).rows == std::vector<Row>{{"a", group(3), histogram_of({1, 2})},
                                                            {"a", other, histogram_of({3, 4, 5})},
                                                            {"b", other, histogram_of({6})}});
    CHECK(largest_groups(table, 3).rows.size() == 4);
    // A row of a group that is shown, behind one of the others: that is the last one all the same.
    table.rows.insert(table.rows.end(), {"b", group(3), histogram_of({8})});
    CHECK(largest_groups(table, 1, "rest").rows ==
          std::vector<Row>{{"a", group(3), histogram_of({1, 2})},
                           {"b", group(3), histogram_of({8})},
                           {"a", Group{{"rest", true}}, histogram_of({3, 4, 5})},
                           {"b", Group{{"rest", true}}, histogram_of({6})}});
    // Stages of the others stand in their order, also where the first group had none of one.
    table.rows = {{"a", group(3), histogram_of({1})},
                  {"a", group(7), histogram_of({})},
                  {"b", group(7), histogram_of({6})},
                  {"c", group(7), histogram_of({})},
                  {"a", group(9), histogram_of({5})}};
    CHECK(largest_groups(table, 1).rows == std::vector<Row>{{"a", group(3), histogram_of({1})},
                                                            {"a", other, histogram_of({5})},
                                                            {"b", other, histogram_of({6})}});
    table.rows.resize(1);
    CHECK(largest_groups(table, 3).rows.empty());
}

TEST_CASE("a stage's share is of the time of the stages of its directions and its group") {
    const auto stage_row = [](std::string name, std::int64_t pid, std::int64_t ns) {
        return Row{std::move(name), pid == 0 ? Group{} : Group{{"pid", pid}}, histogram_of({ns}), {}};
    };
    Table stages{
        .name = "stages",
        .columns = {{"stage", Type::text, Meet::key},
                    {"group", Type::group, Meet::key},
                    {"distribution", Type::distribution},
                    {"share", Type::share, Meet::same}},
        .rows = {stage_row("ip", 0, 30), stage_row("tcp", 0, 10), stage_row("send", 0, 60), stage_row("total", 0, 100),
                 stage_row("ip", 7, 5), stage_row("tcp", 7, 15), stage_row("ip", 8, 0)}};
    const Table ways{
        .name = "ways.stages",
        .columns = {{"number", Type::count, Meet::key}, {"stage", Type::text, Meet::key}, {"sum_ns", Type::number}},
        .rows = {{std::int64_t{0}, "ip", 30.0},
                 {std::int64_t{0}, "tcp", 10.0},
                 {std::int64_t{0}, "send", 0.0},
                 {std::int64_t{1}, "send", 60.0}}};
    put_shares(stages, ways);
    std::vector<Value> shares;
    for (const auto& row : stages.rows)
        shares.push_back(stages.at(row, "share"));
    CHECK(shares == std::vector<Value>{0.75, 0.25, 1.0, 1.0, 0.25, 0.75, Value()});
}
