// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "table/value.h"

/// Results are tables: docs/inside/architecture.md, "Results". Plain data; nothing here knows a recipe.
namespace stapgen::table {

/// What the cells of a column hold, and with it how each format writes them.
enum class Type {
    flag,                ///< bool
    count,               ///< std::int64_t without a unit
    duration,            ///< std::int64_t, ns
    mean,                ///< double: more than thousandths of it say nothing
    share,               ///< double, a part of something: 0 to 1 of what cannot be below 0
    number,              ///< double
    time,                ///< std::int64_t, ns since 1970
    text,                ///< std::string, any bytes
    texts,               ///< Texts
    labels,              ///< Labels
    place,               ///< Place
    reason,              ///< Reason
    path,                ///< Path
    group,               ///< Group
    durations,           ///< Durations
    distribution,        ///< Histogram of ns
    value_distribution,  ///< Histogram of numbers without a unit
    breakdown,           ///< Breakdown
    series,              ///< Series
    average,             ///< Average
    tracks,              ///< CounterTracks
};

/// What becomes of the cells of rows that have the same key.
enum class Meet {
    key,       ///< the cell is a part of the key
    goes_on,   ///< likewise, a number: those of a later measurement follow (append())
    add,       ///< counts and distributions are added up
    smallest,  ///< of those that are known
    largest,   ///< likewise
    first,     ///< of those that are known
    same,      ///< nothing is known where they differ
    never,     ///< rows stand side by side, whatever their keys
};

/// Where a column is written.
enum class In {
    all,
    documents,  ///< not where each row has one number: it is no number, or no name of one
    rows,       ///< only there: what says of the rows of several tables what each is
    people,     ///< in neither
};

/// What people see of a column where its table is laid out for them.
struct ForPeople {
    int place = 0;  ///< from the left, from 1; 0: they do not see it. Columns of one place are one: texts are joined
    std::string heading{};
    std::string if_true{};      ///< of a flag: its text
    std::string joint{};        ///< in front of its text, behind that of another column of its place
    bool is_head = false;       ///< says what a row is about; of several the first does
    bool if_any = false;        ///< seen only where a cell says something
    bool on_page_only = false;  ///< not in text
    bool is_alarm = false;      ///< of a flag: stands out in rows that counted something
};

/// Its name is that of documents, with its unit: "duration_ns".
struct Column {
    std::string name;
    Type type = Type::count;
    Meet meet = Meet::add;
    bool is_rare = false;  ///< documents have it only where it holds something
    In in = In::all;
    ForPeople people{};
};

/// Whether its cells are a part of a row's key.
inline bool is_key(const Column& column) {
    return column.meet == Meet::key || column.meet == Meet::goes_on;
}

using Row = std::vector<Value>;

/// Which of the intervals of a measurement a row is of.
enum class Scope {
    none,       ///< the table knows no intervals
    intervals,  ///< of one: the table has the column "interval"
    whole,      ///< of all together: the sums of the table of that name with rows of intervals, which documents have
};

/// What a document has of a table.
enum class Shape {
    rows,    ///< an array of objects
    record,  ///< one object: there is one row
    fields,  ///< keys of the document itself, likewise
    list,    ///< an array of the first column's cells
    map,     ///< one object, whose keys are the first column's cells
    series,  ///< Results::series; there are no rows
    none,    ///< nothing: other tables have it
};

/// Rows stand in an order that means something: that of the recipe, or the largest first.
struct Table {
    /// "drops"; "tail.stages": parts of the rows of "tail" that have the same first cell, or of its only one.
    std::string name{};
    std::string row_name{};  ///< "drop": of a row among those of other tables; empty: it is not among them
    std::vector<Column> columns{};
    std::vector<Row> rows{};
    Scope scope = Scope::none;
    Shape shape = Shape::rows;
    bool is_rare = false;       ///< documents have it only where it has rows
    std::size_t most = 0;       ///< limit of rows of measurements that are added up; 0: none
    std::int64_t left_out = 0;  ///< rows beyond it

    /// The table whose rows have these as parts; empty: none.
    [[nodiscard]] std::string_view parent() const;
    /// Where the column of that name stands; nothing: it is not there.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view column) const;
    /// Likewise. It must be there.
    [[nodiscard]] std::size_t place_of(std::string_view column) const;
    /// The cell of a row; nothing in it where there is no such column.
    [[nodiscard]] const Value& at(const Row& row, std::string_view column) const;
    /// The first column with cells of that type, likewise.
    [[nodiscard]] std::optional<std::size_t> find(Type type) const;
};

/// Rows of the same key become one, in the place of the first of them.
void fold(Table& table);

/// The rows of `more` behind those of `into`, which gets the columns that it lacks; folded. The two are of one name.
void add(Table& into, Table more);

/// All rows together without these columns: totals. Of cells that are not added up and differ nothing is left.
Table without(Table table, std::initializer_list<std::string_view> columns);

/// The rows of groups that have values: those of the first `most` groups, and behind them the sums of the others, whose
/// group is {"other": true}, or of that key. None where there is one group only.
Table largest_groups(Table table, std::size_t most, std::string_view rest = "other");

/// Sets the column "share" of a table of stages: the part that a stage's time is of the time of all stages of its
/// directions and group, 0 to 1, "total" left out of that; about 1 of "total" itself. Nothing where that time is 0.
/// `way_stages` says in the columns "number", "stage" and "sum_ns" which directions have spent time in which stages; a
/// stage of no direction, as "total", is a part of all.
void put_shares(Table& stages, const Table& way_stages);

/// Bytes that only rows of the same key have.
std::string key_of(const Table& table, const Row& row);

/// By interval, in each the largest count first; of one size by their keys, in the order of the columns.
void largest_first(Table& table);

/// What a measurement says, by the names of the tables.
using Tables = std::vector<Table>;

/// Null where there is none.
Table* find(Tables& tables, std::string_view name);
const Table* find(const Tables& tables, std::string_view name);

/// A measurement behind an earlier one of the same kind: rows of one key meet, what goes on gets higher numbers.
void append(Tables& into, Tables more);

/// Calls with each value of that type in all rows, which may change it: once for all cells that share it.
template <class T>
void change_each(Tables& tables, const auto& change) {
    for (auto& table : tables) {
        std::map<const T*, std::pair<Shared<T>, Shared<T>>>
            changed;  // from and to: what is kept has no other's address
        for (auto& row : table.rows) {
            for (auto& cell : row) {
                auto* shared = std::get_if<Shared<T>>(&cell);
                if (shared == nullptr) continue;
                auto known = changed.find(&**shared);
                if (known == changed.end()) {
                    auto value = **shared;
                    change(value);
                    const auto to = value == **shared ? *shared : Shared<T>(std::move(value));
                    known = changed.emplace(&**shared, std::pair(*shared, to)).first;
                }
                cell = known->second.second;
            }
        }
    }
}

/// The sum of a column of counts.
std::int64_t sum_of(const Table& table, std::string_view column);

}  // namespace stapgen::table
