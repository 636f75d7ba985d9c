// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rows/results.h"
#include "show/json.h"
#include "show/model/texts.h"

/// Documents of any rows: visitors of their columns. A result is rows::Results or another table::TablesOf, or one row,
/// whose cells may be rows.
namespace stapgen::show {

/// To a thousandth: of a mean of ns more digits say nothing.
Json rounded(const std::optional<double>& value);
/// An array for each column, one element for each block: short, and a table to programs.
Json series_json(const rows::Series& row);

Json value_json(const table::Labels& labels);
Json value_json(const table::Durations& durations);
Json value_json(const table::Group& group);
Json value_json(const table::Path& path);
/// What is written as it is: flags, numbers, texts; an enumerator by its name.
template <class T>
Json value_json(const T& value) {
    if constexpr (std::is_enum_v<T>) {
        return name_of(value);
    } else {
        return value;
    }
}

template <class NameOf, class Cell>
Json cell_json(const Cell& cell) {
    if constexpr (table::is_optional<Cell>) {
        // A path that is not known has no frames.
        if constexpr (table::is_shared<typename Cell::value_type>) return cell ? value_json(**cell) : Json::array();
        return cell ? cell_json<NameOf>(*cell) : Json(nullptr);
    } else if constexpr (table::is_shared<Cell>) {
        return value_json(*cell);
    } else if constexpr (std::is_same_v<NameOf, table::Moment>) {
        return utc_time(cell);
    } else if constexpr (std::is_base_of_v<table::Mean, NameOf>) {
        return rounded(cell);
    } else if constexpr (std::is_same_v<NameOf, table::Share>) {
        return std::round(cell * 1e6) / 1e6;
    } else if constexpr (std::is_same_v<NameOf, table::Known>) {
        return cell.empty() ? Json(nullptr) : Json(cell);
    } else {
        return value_json(cell);
    }
}

/// Whether a cell of a rare column says nothing.
template <class NameOf, class Cell>
bool is_absent(const Cell& cell) {
    if constexpr (table::is_optional<Cell>) return !cell;
    if constexpr (std::is_same_v<Cell, bool>) return !cell;
    if constexpr (std::is_same_v<Cell, table::Group>) return cell.empty();
    if constexpr (std::is_same_v<NameOf, table::Known>) return cell.empty();
    return false;
}

template <class Cell>
inline constexpr bool is_row_if_any = requires {
    requires table::is_optional<Cell> && table::is_row<typename Cell::value_type>;
};

/// Fills an object by rows. Rows that may be changed are let go as they are written: a document takes memory, too.
class Document {
  public:
    Document(Json& json, const Options& options) : json_(json), options_(options) {}

    void table(auto& rows) {
        constexpr auto about = RowOf<decltype(rows)>::about;
        if (!(about.is_rare && rows.empty())) put_table(json_, std::string(about.name), rows);
    }
    /// The keys of a row.
    void row(auto& row) { put_row(json_, row); }

  private:
    using Shape = table::Shape;
    template <class Rows>
    using RowOf = typename std::remove_cvref_t<Rows>::value_type;

    void put_table(Json& object, const std::string& key, auto& rows) {
        constexpr auto shape = RowOf<decltype(rows)>::about.shape;
        if constexpr (shape == Shape::fields) put_row(object, rows.front());
        if constexpr (shape == Shape::record) put_row(object[key], rows.front());
        if constexpr (shape == Shape::series) object[key] = series_json(rows.front());
        if constexpr (shape == Shape::rows) put_rows(object[key] = Json::array(), rows);
        if constexpr (shape == Shape::list) put_list(object[key] = Json::array(), rows);
        if constexpr (shape == Shape::map) put_map(object[key] = Json::object(), rows);
    }
    void put_rows(Json& array, auto& rows) {
        for (auto& row : rows) {
            put_row(array.emplace_back(Json::object()), row);
            using Row = std::remove_reference_t<decltype(row)>;
            if constexpr (!std::is_const_v<Row>) row = Row();
        }
    }
    template <class Row>
    static void put_list(Json& array, const std::vector<Row>& rows) {
        for (const auto& row : rows) {
            table::each_column<Row>([&](auto /*rule*/, auto /*name*/, auto member, const table::Shown& /*shown*/) {
                array.push_back(value_json(std::invoke(member, row)));
            });
        }
    }
    template <class Row>
    static void put_map(Json& object, const std::vector<Row>& rows) {
        for (const auto& row : rows) {
            const std::string* key = nullptr;
            table::each_column<Row>([&](auto /*rule*/, auto /*name*/, auto member, const table::Shown& /*shown*/) {
                if constexpr (std::is_same_v<table::CellOf<Row, decltype(member)>, std::string>) {
                    if (key == nullptr) key = &(row.*member);
                } else {
                    object[*key] = value_json(row.*member);
                }
            });
        }
    }

    void put_row(Json& object, auto& row) {
        table::each_column<std::remove_cvref_t<decltype(row)>>(
            [&]<class NameOf>(auto /*rule*/, NameOf name, auto member, const table::Shown& shown) {
                if (shown.in == table::In::rows || shown.in == table::In::hidden) return;
                auto&& cell = std::invoke(member, row);
                put_cell<NameOf>(object, std::string(name.text), cell, shown.is_rare);
            });
    }

    /// A cell's keys: one with the column's name, or what it consists of.
    template <class NameOf, class Cell>
    void put_cell(Json& object, const std::string& name, Cell& cell, bool is_rare) {
        using Held = std::remove_const_t<Cell>;
        if constexpr (table::is_rows<Held>) {
            if (!is_rare || !cell.empty()) put_table(object, name, cell);
        } else if constexpr (table::is_row<Held>) {
            put_row(Held::about.shape == Shape::record ? object[name] : object, cell);
        } else if constexpr (std::is_same_v<Held, table::Place>) {
            put_place(object, cell);
        } else if constexpr (std::is_same_v<Held, table::Reason>) {
            object["reason"] = or_null(cell.name);
            object["reason_number"] = cell.number < 0 ? Json(nullptr) : Json(cell.number);
        } else if constexpr (std::is_same_v<Held, table::Shared<table::Histogram>>) {
            put_distribution(object, *cell, std::is_same_v<NameOf, table::Ns> ? "_ns" : "", options_.percentiles);
        } else if constexpr (is_row_if_any<Held>) {
            object[name] = nullptr;
            if (cell) put_row(object[name] = Json::object(), *cell);
        } else if (!(is_rare && is_absent<NameOf>(cell))) {
            object[name] = cell_json<NameOf>(cell);
        }
    }

    Json& json_;
    const Options& options_;
};

/// A document of one result. What is not known is null. Keys are never renamed; durations are in ns, times in RFC 3339
/// UTC. Bytes that are no UTF-8 become U+FFFD.
template <class Result>
Json document(std::string_view schema, Result&& result, const Options& options = {}) {
    Json json;
    json["schema"] = schema;
    Document keys(json, options);
    if constexpr (table::is_row<std::remove_cvref_t<Result>>) {
        keys.row(result);
    } else {
        result.each([&](auto& rows) {
            if constexpr (std::remove_cvref_t<decltype(rows)>::value_type::about.shape != table::Shape::none)
                keys.table(rows);
        });
    }
    return json;
}

/// One document, or several in one of `schema`, whose key of them is that.
void put_documents(std::ostream& out, std::size_t size, const std::function<Json(std::size_t)>& document_at,
                   std::string_view schema, std::string_view key);

/// Calls with the name and the text of each cell: those of a row's parts and a group's keys are cells, too.
template <class Row>
void each_text(const Row& row, const auto& visit, const std::string& prefix = {}) {
    table::each_column<Row>([&]<class NameOf>(auto /*rule*/, NameOf name, auto member, const table::Shown& /*shown*/) {
        using Held = table::CellOf<Row, decltype(member)>;
        const auto& cell = std::invoke(member, row);
        if constexpr (table::is_row<Held>) {
            each_text(cell, visit, prefix);
        } else if constexpr (is_row_if_any<Held>) {
            each_text(cell.value_or(typename Held::value_type()), visit, fmt::format("{}{}_", prefix, name.text));
        } else if constexpr (std::is_same_v<Held, table::Group>) {
            for (const auto& field : cell)
                visit(csv_cell(field.key), csv_cell(group_text(field)));
        } else if constexpr (!table::is_rows<Held>) {
            const auto json = cell_json<NameOf>(cell);
            const auto text = json.is_string() ? json.template get<std::string>() : json.is_null() ? "" : json.dump();
            visit(prefix + std::string(name.text), json.is_number() ? text : csv_cell(text));
        }
    });
}

/// RFC 4180, but for the line ends: a line of names, then one for each row. All groups have the same keys.
template <class Row>
void put_csv(std::ostream& out, const std::vector<Row>& rows) {
    const char* separator = "";
    const auto put = [&](const std::string& text) { out << std::exchange(separator, ",") << text; };
    each_text(rows.empty() ? Row() : rows.front(), [&](const std::string& name, const std::string&) { put(name); });
    for (const auto& row : rows) {
        out << '\n';
        separator = "";
        each_text(row, [&](const std::string&, const std::string& text) { put(text); });
    }
    out << '\n';
}

}  // namespace stapgen::show
