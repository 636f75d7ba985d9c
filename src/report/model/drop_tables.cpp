// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/model/results.h"

namespace stapgen::report {

namespace {

using table::Meet;
using table::Scope;
using table::Shape;
using table::Type;
using table::Value;

table::Table drops_table(const Report& report, std::span<const analyze::Drop> drops, Scope scope) {
    const bool by_interval = scope == Scope::intervals;
    table::Table table{.name = "drops", .row_name = "drop", .scope = scope};
    if (by_interval) table.columns = {{"time", Type::time, Meet::largest}, {"interval", Type::count, Meet::key}};
    table.columns.insert(table.columns.end(), {{"place", Type::place, Meet::key},
                                               {"reason", Type::reason, Meet::key},
                                               {"group", Type::group, Meet::key},
                                               {"count", Type::count, Meet::add},
                                               {"benign", Type::flag, Meet::first}});
    for (const auto& drop : drops) {
        auto& cells = table.rows.emplace_back();
        if (by_interval) cells = {table::value_of(drop.end_epoch_ns), report.options.interval.value_or(drop.interval)};
        for (const Value& value : {Value(drop.place), Value(drop.reason), Value(drop.group), Value(drop.count),
                                   Value(advice_of(drop).benign)})
            cells.push_back(value);
    }
    return table;
}

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

table::Table advice_table(std::span<const analyze::Drop> drops) {
    table::Table table{.name = "advice",
                       .columns = {{"reason", Type::text, Meet::key},
                                   {"function", Type::text, Meet::key},
                                   {"benign", Type::flag, Meet::first},
                                   {"count", Type::count, Meet::add},
                                   {"text", Type::text, Meet::first}}};
    for (const auto& [advice, reason, count] : advice_for(drops)) {
        table.rows.push_back({table::value_of(reason),
                              advice.function.empty() ? Value() : Value(std::string(advice.function)), advice.benign,
                              count, std::string(advice.text)});
    }
    return table;
}

table::Table stacks_table(const Report& report, std::span<const analyze::Stack> stacks, Scope scope) {
    const bool by_interval = scope == Scope::intervals;
    table::Table table{.name = "stacks", .row_name = by_interval ? "" : "stack", .scope = scope, .is_rare = true};
    if (by_interval) table.columns = {{"time", Type::time, Meet::largest}, {"interval", Type::count, Meet::key}};
    table.columns.insert(
        table.columns.end(),
        {{"reason", Type::reason, Meet::key}, {"count", Type::count, Meet::add}, {"frames", Type::path, Meet::key}});
    for (const auto& stack : stacks) {
        auto& cells = table.rows.emplace_back();
        if (by_interval)
            cells = {table::value_of(stack.end_epoch_ns), report.options.interval.value_or(stack.interval)};
        for (const Value& value : {Value(stack.reason), Value(stack.count), Value(stack.frames)})
            cells.push_back(value);
    }
    return table;
}

}  // namespace

void add_drop_tables(const Report& report, table::Results& results) {
    const auto& summary = report.summary;
    auto& tables = results.tables;
    tables.push_back(drops_table(report, report.interval_drops.rows, Scope::intervals));
    tables.push_back(drops_table(report, report.drops.rows, Scope::whole));
    tables.push_back(not_shown(report.interval_drops, Scope::intervals));
    tables.push_back(not_shown(report.drops, Scope::whole));
    tables.push_back(advice_table(report.interval_drops.rows));
    tables.push_back(stacks_table(report, summary.stacks, Scope::intervals));
    tables.push_back(stacks_table(report, analyze::total_stacks(summary), Scope::whole));
}

}  // namespace stapgen::report
