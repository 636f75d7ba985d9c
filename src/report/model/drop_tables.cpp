// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/model/results.h"

namespace stapgen::report {

namespace {

using table::Meet;
using table::Scope;
using table::Shape;
using table::Type;
using table::Value;

table::Table not_shown(const ShownDrops& shown, Scope scope) {
    table::Table table{.name = "benign_not_shown",
                       .row_name = scope == Scope::whole ? "drops-not-shown" : "",
                       .columns = {{"rows", Type::count, Meet::add, false, table::In::documents},
                                   {"count", Type::count, Meet::add},
                                   {"benign", Type::flag, Meet::first, false, table::In::rows}},
                       .scope = scope,
                       .shape = Shape::record};
    if (scope == Scope::intervals || shown.hidden_rows > 0)
        table.rows.push_back({static_cast<std::int64_t>(shown.hidden_rows), shown.hidden, true});
    return table;
}

}  // namespace

table::Table drops_table(const Report& report, std::span<const analyze::Drop> drops, Scope scope) {
    table::Table table{.name = "drops",
                       .row_name = "drop",
                       .columns = {{"place",
                                    Type::place,
                                    Meet::key,
                                    false,
                                    table::In::all,
                                    {.place = 3, .heading = "LOCATION", .is_head = true}},
                                   {"reason", Type::reason, Meet::key, false, table::In::all, {4, "REASON"}},
                                   {"group", Type::group, Meet::key, false, table::In::all, {5}},
                                   {"count", Type::count, Meet::add, false, table::In::all, {2, "COUNT"}},
                                   {"benign", Type::flag, Meet::first}},
                       .scope = scope};
    for (const auto& drop : drops)
        table.rows.push_back({drop.place, drop.reason, drop.group, drop.count, advice_of(drop).benign});
    put_intervals(table, drops, report.options.interval);
    return table;
}

table::Table advice_table(std::span<const GivenAdvice> all) {
    table::Table table{.name = "advice",
                       .columns = {{"reason",
                                    Type::text,
                                    Meet::key,
                                    false,
                                    table::In::all,
                                    {.place = 1, .heading = "REASON", .is_head = true}},
                                   {"function", Type::text, Meet::key, false, table::In::all, {1, "REASON", " in "}},
                                   {"benign", Type::flag, Meet::first},
                                   {"count", Type::count, Meet::add, false, table::In::all, {2, "DROPS"}},
                                   {"text", Type::text, Meet::first, false, table::In::all, {3, "ADVICE"}}}};
    for (const auto& [advice, reason, count] : all) {
        table.rows.push_back({table::value_of(reason),
                              advice.function.empty() ? Value() : Value(std::string(advice.function)), advice.benign,
                              count, std::string(advice.text)});
    }
    return table;
}

table::Table stacks_table(const Report& report, std::span<const analyze::Stack> stacks, Scope scope) {
    table::Table table{.name = "stacks",
                       .row_name = scope == Scope::intervals ? "" : "stack",
                       .columns = {{"reason",
                                    Type::reason,
                                    Meet::key,
                                    false,
                                    table::In::all,
                                    {.place = 2, .heading = "REASON", .is_head = true}},
                                   {"count", Type::count, Meet::add, false, table::In::all, {1, "COUNT"}},
                                   {"frames", Type::path, Meet::key, false, table::In::all, {3, "PATH"}}},
                       .scope = scope,
                       .is_rare = true};
    for (const auto& stack : stacks)
        table.rows.push_back({stack.reason, stack.count, stack.frames});
    put_intervals(table, stacks, report.options.interval);
    return table;
}

void add_drop_tables(const Report& report, table::Results& results) {
    const auto& summary = report.summary;
    auto& tables = results.tables;
    tables.push_back(drops_table(report, report.interval_drops.rows, Scope::intervals));
    tables.push_back(drops_table(report, report.drops.rows, Scope::whole));
    tables.push_back(not_shown(report.interval_drops, Scope::intervals));
    tables.push_back(not_shown(report.drops, Scope::whole));
    tables.push_back(advice_table(advice_for(report.interval_drops.rows)));
    tables.push_back(stacks_table(report, summary.stacks, Scope::intervals));
    tables.push_back(stacks_table(report, report.all_stacks, Scope::whole));
}

}  // namespace stapgen::report
