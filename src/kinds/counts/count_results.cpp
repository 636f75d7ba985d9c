// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.h"
#include "kinds/counts/counts.h"

namespace stapgen::kinds::counts {

namespace {

using table::Meet, table::Scope, table::Type, table::Value;

/// The row of a counter that fell says nothing of how far it rose.
bool is_fall(const table::Table& counts, const table::Row& row) {
    const auto* name = counter_of(counts, row);
    return name != nullptr && name->starts_with("reset.");
}

/// The sum; or, where there is no common unit, how many counters rose.
std::string title_of(const Measured& measured, const table::Table& totals) {
    const auto counted = table::known<std::string>(measured.fact("counting", "counted")).value_or("");
    if (measured.fact("counting", "mixed_units") != Value(true))
        return fmt::format("total: {} {}", sum_of(totals, "count"), base::printable(counted));
    const auto read = table::count_of(measured.fact("counting", "counters_read"));
    const auto fell = std::ranges::count_if(totals.rows, [&](const auto& row) { return is_fall(totals, row); });
    const auto losses = std::ranges::count_if(
        totals.rows, [&](const auto& row) { return rank_of(totals, row, true) >= loss_by_name_rank; });
    const auto unread = measured.input.possible_losses;
    const auto may = losses > 0 || unread == 0
                         ? ""
                         : fmt::format(", but {} line{} not understood may", unread, unread == 1 ? "" : "s");
    if (measured.fact("counting", "levels") == Value(true)) {
        return may.empty() ? fmt::format("{} of {} counters count losses and are above 0", losses, read)
                           : fmt::format("none of {} counters counts losses and is above 0{}", read, may);
    }
    const auto rose = std::ssize(totals.rows) - fell;
    if (rose == 0 && read > 0) {
        return fell > 0 ? fmt::format("no rise is known: {} of {} counters fell{}", fell, read, may)
                        : fmt::format("no rise of {} counters is known{}", read, may);
    }
    auto title = read > 0 ? fmt::format("{} of {} counters", rose, read)
                          : fmt::format("{} counter{}", rose, rose == 1 ? "" : "s");
    title += losses == 0 ? fmt::format(" rose; none counts losses{}", may)
                         : fmt::format(" rose; {} count{} losses", losses, losses == 1 ? "s" : "");
    if (fell > 0) title += fmt::format("; {} fell", fell);
    return title;
}

}  // namespace

void put_results(const Measured& measured, const Asked& asked, table::Results& results) {
    const auto& counted = measured.fact("counting", "counted");
    const bool mixed_units = measured.fact("counting", "mixed_units") == Value(true);
    auto counts = measured.or_empty(counts_table());
    set_interval(counts, asked);
    counts.columns[counts.place_of("count")].people.heading =
        base::upper(base::printable(table::known<std::string>(counted).value_or("")));
    for (auto& row : counts.rows)
        row[counts.place_of("counted")] = counted;
    auto totals = table::without(counts, {"time", "interval"});
    totals.scope = Scope::whole;
    totals.columns[totals.place_of("meaning")].people = {
        .place = 6, .heading = "WHAT", .if_any = true, .on_page_only = true};
    std::ranges::stable_sort(totals.rows, std::greater(), [&](const table::Row& row) {
        return std::pair(rank_of(totals, row, mixed_units), table::count_of(totals.at(row, "count")));
    });
    if (!std::holds_alternative<std::monostate>(counted)) results.say("counts", title_of(measured, totals));
    results.tables.push_back(one_fact("counted", Type::text, counted));
    results.tables.push_back(std::move(counts));
    results.tables.push_back(std::move(totals));
    results.tables.push_back(one_fact("counters_read", Type::count, measured.fact("counting", "counters_read"), true));
    results.tables.push_back(
        {.name = "counting",
         .columns = {{"mixed_units", Type::flag, Meet::largest},
                     {"levels", Type::flag, Meet::largest},
                     {"counts_drops", Type::flag, Meet::largest}},
         .rows = {{mixed_units, measured.fact("counting", "levels") == Value(true), measured.has("drops")}},
         .shape = table::Shape::none});
}

}  // namespace stapgen::kinds::counts
