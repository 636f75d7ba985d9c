// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/layout.h"

#include <doctest/doctest.h>

#include <utility>

#include "rows/results.h"

using namespace stapgen;

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

std::vector<rows::Count> losses() {
    const auto loss_of = [](table::Group group, std::int64_t count, bool loss, bool by_name) {
        rows::Count row;
        row.counted = "packets";
        row.group = std::move(group);
        row.count = count;
        row.loss = loss;
        row.loss_by_name = by_name;
        return row;
    };
    return {loss_of({{"cpu", 1}}, 30, true, false), loss_of({{"cpu", 2}, {"queue", 4}}, 10, false, true),
            loss_of({{"other", true}}, 0, true, false)};
}

}  // namespace

TEST_CASE("people see the columns that have a place, in that order, and a column for each key") {
    const auto seen = show::laid_out(losses(), "Losses");
    CHECK(seen.caption == "Losses");
    CHECK(names_of(seen) == Texts{"PACKETS", "CPU", "QUEUE", "LOSS"});
    CHECK(seen.columns[0].kind == show::Kind::number);
    CHECK(texts_of(seen.rows[0]) == Texts{"30", "1", "", "lost"});
    CHECK(texts_of(seen.rows[1]) == Texts{"10", "2", "4", "by name"});
    CHECK(texts_of(seen.rows[2]) == Texts{"0", "other", "", "lost"});
}

TEST_CASE("texts of one place are joined, and what is not known is left out") {
    const auto seen = show::laid_out(std::vector<rows::Advice>{
        {"NO_SOCKET", "icmp_rcv", true, 3, "a"}, {{}, "ip_rcv", false, 2, "b"}, {"NOMEM", {}, false, 1, "c"}});
    CHECK(names_of(seen) == Texts{"REASON", "DROPS", "ADVICE"});
    CHECK(texts_of(seen.rows[0]) == Texts{"NO_SOCKET in icmp_rcv", "3", "a"});
    CHECK(texts_of(seen.rows[1]) == Texts{"ip_rcv", "2", "b"});
    CHECK(texts_of(seen.rows[2]) == Texts{"NOMEM", "1", "c"});
}

TEST_CASE("an alarm stands out where the row counted something") {
    const auto seen = show::laid_out(losses());
    CHECK(seen.rows[0].back().ink == base::Ink::bad);
    CHECK(seen.rows[1].back().ink == base::Ink::plain);
    CHECK(seen.rows[2].back().ink == base::Ink::plain);
}

TEST_CASE("a page says what part of the whole a count is") {
    const auto seen = show::laid_out(losses(), "", 120);
    CHECK(names_of(seen) == Texts{"PACKETS", "SHARE", "CPU", "QUEUE", "LOSS"});
    CHECK(seen.columns[1].in == show::In::page);
    CHECK(seen.rows[0][1].bar == 0.25);
}

TEST_CASE("what is known of some rows only is seen, the others have a sign for it") {
    auto rates = losses();
    rates[1].per_s = 2.5;
    const auto seen = show::laid_out(rates);
    CHECK(names_of(seen)[1] == "PER S");
    CHECK(seen.rows[0][1].text == "-");
    CHECK(seen.rows[1][1].text == "2.50");
}

TEST_CASE("when an interval ended is the head of its rows, which are folded on a page") {
    const rows::Drop drop{.place = {.symbol = "ip_rcv"}, .count = 3};
    const auto whole = show::laid_out(std::vector{drop});
    CHECK(names_of(whole) == Texts{"COUNT", "LOCATION", "REASON"});
    CHECK(whole.columns[1].kind == show::Kind::head);
    CHECK_FALSE(whole.folded);

    const auto seen = show::laid_out(std::vector<rows::OfInterval<rows::Drop>>{{drop}});
    CHECK(names_of(seen) == Texts{"ENDED", "COUNT", "LOCATION", "REASON"});
    CHECK(seen.columns[0].kind == show::Kind::head);
    CHECK(seen.columns[2].kind == show::Kind::text);
    CHECK(seen.rows[0][0].text == show::end_text({}));
    CHECK(seen.folded);
}
