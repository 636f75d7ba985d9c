// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "base/saturate.h"
#include "kinds/drops/advice.h"
#include "kinds/drops/drops.h"
#include "table/texts.h"

namespace stapgen::kinds::drops {

namespace {

using table::count_of, table::held;
using table::Meet, table::Scope, table::Shape, table::Type, table::Value;

DropAdvice advice_of(const table::Table& drops, const table::Row& row) {
    return drops::advice_of(*held<table::Place>(drops.at(row, "place")), *held<table::Reason>(drops.at(row, "reason")));
}

table::Table rows_of(const Measured& measured, table::Table empty, const Asked& asked) {
    auto table = measured.or_empty(std::move(empty));
    set_interval(table, asked);
    return table;
}

/// All intervals together. Of several recordings a place with a name is one, whatever its address: a kernel that was
/// started again has the same function elsewhere.
table::Table totals_of(const table::Table& drops, bool several_recordings) {
    auto totals = table::without(drops, {"time", "interval"});
    totals.scope = Scope::whole;
    if (several_recordings) {
        const auto place = totals.place_of("place");
        std::map<table::Row, std::size_t> rows;  // by all of the key but the address
        const auto key_of_row = [&](const table::Row& row) {
            auto named = *held<table::Place>(row[place]);
            if (named.symbol) named.address.reset();
            return table::Row{std::move(named), totals.at(row, "reason"), totals.at(row, "group")};
        };
        for (const auto& row : totals.rows)
            ++rows[key_of_row(row)];
        for (auto& row : totals.rows) {
            auto key = key_of_row(row);
            if (rows.at(key) > 1) row[place] = std::move(key.front());
        }
        fold(totals);
    }
    largest_first(totals);
    return totals;
}

/// Without addresses; those of the most frequent reason first, of one reason the largest first.
table::Table total_paths(const table::Table& stacks) {
    table::Tables tables{stacks};
    table::change_each<table::Path>(tables,
                                    [](table::Path& path) { std::ranges::for_each(path, table::keep_name_only); });
    auto totals = table::without(std::move(tables.front()), {"time", "interval"});
    totals.scope = Scope::whole;
    totals.row_name = "stack";
    const auto reason = totals.place_of("reason"), count = totals.place_of("count"), frames = totals.place_of("frames");
    std::map<Value, std::int64_t> of_reason;
    for (const auto& row : totals.rows)
        base::add_saturating(of_reason[row[reason]], count_of(row[count]));
    std::ranges::sort(totals.rows, {}, [&](const table::Row& row) {
        return std::tuple(-of_reason.at(row[reason]), row[reason], -count_of(row[count]), row[frames]);
    });
    return totals;
}

/// Drops as they are shown: what is benign is marked, or left out and counted.
struct Shown {
    table::Table drops, hidden;  ///< the second has a row for each of the first that is not shown
};

Shown shown_of(table::Table drops, bool hide_benign) {
    drops.columns.push_back({"benign", Type::flag, Meet::first});
    drops.columns.push_back({"advice", Type::text, Meet::first, false, table::In::people});
    for (auto& row : drops.rows) {
        const auto advice = advice_of(drops, row);
        row.emplace_back(advice.benign);
        row.emplace_back(std::string(advice.text));
    }
    auto hidden = drops;
    const auto is_hidden = [&](const table::Row& row) { return hide_benign && drops.at(row, "benign") == Value(true); };
    std::erase_if(hidden.rows, std::not_fn(is_hidden));
    std::erase_if(drops.rows, is_hidden);
    return {std::move(drops), std::move(hidden)};
}

table::Table not_shown(const table::Table& hidden) {
    const auto scope = hidden.scope;
    table::Table table{.name = "benign_not_shown",
                       .row_name = scope == Scope::whole ? "drops-not-shown" : "",
                       .columns = {{"rows", Type::count, Meet::add, false, table::In::documents},
                                   {"count", Type::count, Meet::add},
                                   {"benign", Type::flag, Meet::first, false, table::In::rows}},
                       .scope = scope,
                       .shape = Shape::record};
    if (scope == Scope::intervals || !hidden.rows.empty())
        table.rows.push_back({std::ssize(hidden.rows), sum_of(hidden, "count"), true});
    return table;
}

/// By interval and reason.
table::Table hidden_by_interval(const table::Table& hidden) {
    table::Table table{
        .name = "benign_by_interval",
        .columns = {{"interval", Type::count, Meet::key}, {"reason", Type::reason, Meet::key}, {"rows"}, {"count"}},
        .shape = Shape::none};
    for (const auto& row : hidden.rows)
        table.rows.push_back(
            {hidden.at(row, "interval"), hidden.at(row, "reason"), std::int64_t{1}, hidden.at(row, "count")});
    fold(table);
    return table;
}

/// What is known of drops, each once, that for the most drops first.
table::Table advice_table(const table::Table& drops) {
    table::Table table{.name = "advice",
                       .columns = {{"reason",
                                    Type::text,
                                    Meet::key,
                                    false,
                                    table::In::all,
                                    {.place = 1, .heading = "REASON", .is_head = true}},
                                   {"function",
                                    Type::text,
                                    Meet::key,
                                    false,
                                    table::In::all,
                                    {.place = 1, .heading = "REASON", .joint = " in "}},
                                   {"benign", Type::flag, Meet::first},
                                   {"count", Type::count, Meet::add, false, table::In::all, {2, "DROPS"}},
                                   {"text", Type::text, Meet::first, false, table::In::all, {3, "ADVICE"}}}};
    for (const auto& row : drops.rows) {
        const auto advice = advice_of(drops, row);
        if (advice.text.empty()) continue;
        table.rows.push_back({table::value_of(held<table::Reason>(drops.at(row, "reason"))->name),
                              advice.function.empty() ? Value() : Value(std::string(advice.function)), advice.benign,
                              drops.at(row, "count"), std::string(advice.text)});
    }
    fold(table);
    std::ranges::stable_sort(table.rows, std::greater(), [](const table::Row& row) { return count_of(row[3]); });
    return table;
}

/// Of each reason the most frequent paths, and how many others there are.
void put_shown_paths(const table::Table& paths, std::size_t most, table::Results& results) {
    auto few = paths;
    few.name = "stacks_shown";
    few.row_name.clear();
    few.shape = Shape::none;
    std::map<std::string, std::size_t> seen;
    std::erase_if(few.rows, [&](const table::Row& row) {
        return ++seen[reason_text(*held<table::Reason>(paths.at(row, "reason")))] > most;
    });
    if (!few.rows.empty()) {
        auto title =
            fmt::format("Call paths, the {}most frequent of each reason", most == 1 ? "" : fmt::format("{} ", most));
        if (const auto others = paths.rows.size() - few.rows.size(); others > 0)
            title += fmt::format("; --format folded has {} more", others);
        results.say("stacks", std::move(title));
    }
    results.tables.push_back(std::move(few));
}

std::string total_text(const table::Table& totals) {
    if (totals.rows.empty()) return "total: no drops";
    const auto sum = sum_of(totals, "count");
    return fmt::format("total: {} drop{} at {}{}", sum, sum == 1 ? "" : "s", totals.rows.size(),
                       totals.rows.size() == 1 ? " place" : " places and reasons");
}

}  // namespace

void put_results(const Measured& measured, const Asked& asked, table::Results& results) {
    const auto drops = rows_of(measured, drops_table(), asked);
    const auto totals = totals_of(drops, measured.recordings > 1);
    auto by_interval = shown_of(drops, asked.hide_benign), whole = shown_of(totals, asked.hide_benign);
    if (measured.has("drops")) results.say("drops", total_text(totals));
    auto advice = advice_table(whole.drops);
    auto stacks = rows_of(measured, stacks_table(), asked);
    auto paths = total_paths(stacks);
    results.tables.push_back(std::move(by_interval.drops));
    results.tables.push_back(std::move(whole.drops));
    results.tables.push_back(not_shown(by_interval.hidden));
    results.tables.push_back(not_shown(whole.hidden));
    results.tables.push_back(std::move(advice));
    results.tables.push_back(std::move(stacks));
    put_shown_paths(paths, measured.stacks_shown, results);
    results.tables.push_back(std::move(paths));
    results.tables.push_back(hidden_by_interval(by_interval.hidden));
}

}  // namespace stapgen::kinds::drops
