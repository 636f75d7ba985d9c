// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/layout.h"

#include <doctest/doctest.h>

using namespace stapgen;
using table::Meet;
using table::Type;

namespace {

std::vector<std::string> names_of(const show::Table& table) {
    std::vector<std::string> names;
    for (const auto& column : table.columns)
        names.push_back(column.name);
    return names;
}

std::vector<std::string> texts_of(const std::vector<show::Cell>& row) {
    std::vector<std::string> texts;
    for (const auto& cell : row)
        texts.push_back(cell.text);
    return texts;
}

using Texts = std::vector<std::string>;

table::Table losses() {
    const auto in = table::In::all;
    return {
        .name = "losses",
        .columns = {{"group", Type::group, Meet::key, false, in, {2}},
                    {"count", Type::count, Meet::add, false, in, {1, "PACKETS"}},
                    {"secret", Type::text},
                    {"lost",
                     Type::flag,
                     Meet::first,
                     false,
                     in,
                     {.place = 3, .heading = "WHY", .if_true = "lost", .if_any = true, .is_alarm = true}},
                    {"where", Type::text, Meet::first, false, in, {.place = 3, .heading = "WHY", .joint = " in "}},
                    {"per_s", Type::number, Meet::same, false, in, {.place = 4, .heading = "PER S", .if_any = true}}},
        .rows = {{table::Group{{"cpu", 1}}, 30, "x", true, "eth0", {}},
                 {table::Group{{"cpu", 2}, {"queue", 4}}, 10, "x", false, "eth1", {}},
                 {table::Group{{"other", true}}, 0, "x", true, {}, {}}}};
}

}  // namespace

TEST_CASE("people see the columns that have a place, in that order, and a column for each key") {
    const auto seen = show::laid_out(losses(), "Losses");
    CHECK(seen.caption == "Losses");
    CHECK(names_of(seen) == Texts{"PACKETS", "CPU", "QUEUE", "WHY"});
    CHECK(seen.columns[0].kind == show::Kind::number);
    CHECK(texts_of(seen.rows[0]) == Texts{"30", "1", "", "lost in eth0"});
    CHECK(texts_of(seen.rows[1]) == Texts{"10", "2", "4", "eth1"});
    CHECK(texts_of(seen.rows[2]) == Texts{"0", "other", "", "lost"});
}

TEST_CASE("an alarm stands out where the row counted something") {
    const auto seen = show::laid_out(losses());
    CHECK(seen.rows[0].back().ink == base::Ink::bad);
    CHECK(seen.rows[1].back().ink == base::Ink::plain);
    CHECK(seen.rows[2].back().ink == base::Ink::plain);
}

TEST_CASE("a page says what part of the whole a count is") {
    const auto seen = show::laid_out(losses(), "", 120);
    CHECK(names_of(seen) == Texts{"PACKETS", "SHARE", "CPU", "QUEUE", "WHY"});
    CHECK(seen.columns[1].in == show::In::page);
    CHECK(seen.rows[0][1].bar == 0.25);
}

TEST_CASE("what is known of some rows only is seen, the others have a sign for it") {
    auto rates = losses();
    rates.rows[1].back() = 2.5;
    const auto seen = show::laid_out(rates);
    CHECK(names_of(seen).back() == "PER S");
    CHECK(seen.rows[0].back().text == "-");
    CHECK(seen.rows[1].back().text == "2.50");
}

TEST_CASE("when an interval ended is the head of its rows, which are folded on a page") {
    table::Table drops{.name = "drops",
                       .columns = {{"place",
                                    Type::text,
                                    Meet::key,
                                    false,
                                    table::In::all,
                                    {.place = 2, .heading = "LOCATION", .is_head = true}}},
                       .rows = {{"ip_rcv"}}};
    const auto whole = show::laid_out(drops);
    CHECK(whole.columns[0].kind == show::Kind::head);
    CHECK_FALSE(whole.folded);

    drops.scope = table::Scope::intervals;
    drops.columns.insert(
        drops.columns.begin(),
        {"time", Type::time, Meet::largest, false, table::In::all, {.place = 1, .heading = "ENDED", .is_head = true}});
    drops.rows[0].insert(drops.rows[0].begin(), table::Value());
    const auto seen = show::laid_out(drops);
    CHECK(names_of(seen) == Texts{"ENDED", "LOCATION"});
    CHECK(seen.columns[0].kind == show::Kind::head);
    CHECK(seen.columns[1].kind == show::Kind::text);
    CHECK(seen.rows[0][0].text == show::end_text({}));
    CHECK(seen.folded);
}
