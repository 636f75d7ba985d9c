// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "table/value.h"

/// Results are tables: docs/inside/architecture.md, "Results". Plain data; nothing here knows a recipe.
namespace stapgen::table {

/// What the cells of a column hold, and with it how each format writes them.
enum class Type {
    flag,                ///< bool
    count,               ///< std::int64_t without a unit
    duration,            ///< std::int64_t, ns
    mean_duration,       ///< double, ns
    number,              ///< double without a unit
    time,                ///< std::int64_t, ns since 1970
    clock,               ///< std::int64_t, ns, of any clock
    text,                ///< std::string, any bytes
    place,               ///< Place
    reason,              ///< Reason
    path,                ///< Path
    durations,           ///< Durations
    distribution,        ///< Histogram of ns
    value_distribution,  ///< Histogram of numbers without a unit
};

/// What becomes of the cells of rows that have the same key.
enum class Meet {
    key,       ///< the cell is a part of the key
    group,     ///< likewise: a field by which the user groups. The column "other" (a flag) is of what has no group
    add,       ///< counts and distributions are added up
    smallest,  ///< of those that are known
    largest,   ///< likewise
    first,     ///< of those that are known
    same,      ///< nothing is known where they differ
};

/// Its name is that of documents: of a duration without "_ns".
struct Column {
    std::string name;
    Type type = Type::count;
    Meet meet = Meet::add;
    bool is_rare = false;  ///< documents have it only where it holds something

    [[nodiscard]] bool is_key() const { return meet == Meet::key || meet == Meet::group; }
};

using Row = std::vector<Value>;

/// Rows stand in an order that means something: that of the recipe, or the largest first.
struct Table {
    std::string name;      ///< "drops"
    std::string row_name;  ///< "drop": of a row where rows of several tables stand together
    std::vector<Column> columns;
    std::vector<Row> rows{};

    /// Where the column of that name stands; nothing: it is not there.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view column) const;
    /// Likewise. It must be there.
    [[nodiscard]] std::size_t place_of(std::string_view column) const;
    /// The cell of a row; nothing in it where there is no such column.
    [[nodiscard]] const Value& at(const Row& row, std::string_view column) const;
};

/// Rows of the same key become one, in the place of the first of them.
void fold(Table& table);

/// The rows of `more` behind those of `into`, which gets the columns that it lacks; folded. The two are of one name.
void add(Table& into, Table more);

/// All rows together without these columns: totals. Of cells that are not added up and differ nothing is left.
Table without(Table table, std::initializer_list<std::string_view> columns);

/// The sum of a column of counts.
std::int64_t sum_of(const Table& table, std::string_view column);

}  // namespace stapgen::table
