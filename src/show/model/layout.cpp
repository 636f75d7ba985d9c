// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace stapgen::show {

namespace {

using table::held;
using table::known;
using table::Type;
using table::Value;

bool says_something(const Value& value) {
    return !std::holds_alternative<std::monostate>(value) && value != Value(false);
}

Cell cell_of(const table::Table& table, const table::Row& row, std::size_t i) {
    const auto& value = row[i];
    const auto& people = table.columns[i].people;
    switch (table.columns[i].type) {
        case Type::flag: {
            if (!says_something(value)) return {};
            const bool is_alarm = people.is_alarm && table::count_of(table.at(row, "count")) > 0;
            return {.text = people.if_true, .ink = is_alarm ? base::Ink::bad : base::Ink::plain};
        }
        case Type::count:
            return {fmt::format("{}", table::count_of(value))};
        case Type::duration:
            return {duration_text(table::count_of(value))};
        case Type::mean: {
            if (!says_something(value)) return {};
            const bool is_time = table.columns[i].name.ends_with("_ns");
            const auto mean = *known<double>(value);
            return {is_time ? Style().cell(mean) + " us" : fmt::format("{:.3f}", mean)};
        }
        case Type::number:
            return {says_something(value) ? per_second_text(*known<double>(value)) : "-"};
        case Type::time:
            return {end_text(known<std::int64_t>(value))};
        case Type::place:
            return {place_text(*held<table::Place>(value))};
        case Type::path:
            return {says_something(value) ? path_text(*held<table::Path>(value)) : ""};
        case Type::reason:
            return reason_cell(table, row);
        default:
            return {known<std::string>(value).value_or("")};
    }
}

/// Of columns that have one place.
Cell joined(const table::Table& table, const table::Row& row, const std::vector<std::size_t>& columns) {
    Cell all;
    for (const auto i : columns) {
        auto cell = cell_of(table, row, i);
        if (all.text.empty()) {
            all = std::move(cell);
        } else if (!cell.text.empty()) {
            all.text += table.columns[i].people.joint + cell.text;
        }
    }
    return all;
}

void add(Table& out, Column column, const std::vector<table::Row>& rows, const auto& cell_of_row) {
    out.columns.push_back(std::move(column));
    for (std::size_t i = 0; i < rows.size(); ++i)
        out.rows[i].push_back(cell_of_row(rows[i]));
}

}  // namespace

Table laid_out(table::Table table, std::string caption, std::optional<std::int64_t> whole) {
    for (auto& row : table.rows)
        row.resize(table.columns.size());
    const auto& rows = table.rows;
    std::map<int, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const auto& people = table.columns[i].people;
        const auto says = [i](const table::Row& row) { return says_something(row[i]); };
        if (people.place > 0 && (!people.if_any || std::ranges::any_of(rows, says))) places[people.place].push_back(i);
    }
    Table out{.caption = std::move(caption), .columns = {}, .folded = table.scope == table::Scope::intervals};
    out.rows.resize(rows.size());
    for (const auto& [place, columns] : places) {
        const auto i = columns.front();
        const auto& [name, type, meet, is_rare, in, people] = table.columns[i];
        if (type == Type::group) {
            const auto group = [i](const table::Row& row) -> const table::Group& {
                return *held<table::Group>(row[i]);
            };
            const auto keys = keys_of(rows, group);
            for (const auto& key : keys) {
                add(out, {key_name(key), Kind::text}, rows,
                    [&](const auto& row) { return Cell{key_cell(group(row), key, key == keys.front())}; });
            }
            continue;
        }
        const bool is_number =
            type == Type::count || type == Type::duration || type == Type::mean || type == Type::number;
        const bool has_head = std::ranges::find(out.columns, Kind::head, &Column::kind) != out.columns.end();
        const auto kind = is_number ? Kind::number : people.is_head && !has_head ? Kind::head : Kind::text;
        add(out, {people.heading, kind, people.on_page_only ? In::page : In::all}, rows,
            [&](const auto& row) { return joined(table, row, columns); });
        if (type == Type::count && whole) {
            add(out, {"SHARE", Kind::text, In::page}, rows,
                [&](const auto& row) { return part_cell(table::count_of(row[i]), *whole); });
        }
    }
    return out;
}

}  // namespace stapgen::show
