// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/table.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/saturate.h"

namespace stapgen::table {

namespace {

/// Adds up the cells of a column, of the rows that became one.
class Cells {
  public:
    Cells(Meet meet, Value& first) : meet_(meet), value_(first) {}

    void meet(const Value& other) {
        if (meet_ == Meet::same) {
            if (value_ != other) value_ = {};
        } else if (std::holds_alternative<std::monostate>(value_)) {
            value_ = other;
        } else if (!std::holds_alternative<std::monostate>(other)) {
            meet_known(other);
        }
    }
    /// Puts the sum of distributions into the first one's place.
    void end() {
        if (sum_) value_ = Shared(*std::move(sum_));
    }

  private:
    void meet_known(const Value& other) {
        if (meet_ == Meet::smallest || meet_ == Meet::largest) {
            if (meet_ == Meet::smallest ? other < value_ : value_ < other) value_ = other;
        } else if (meet_ == Meet::add) {
            add(other);
        }
    }
    void add(const Value& other) {
        if (auto* count = std::get_if<std::int64_t>(&value_)) {
            base::add_saturating(*count, count_of(other));
        } else if (auto* number = std::get_if<double>(&value_)) {
            if (const auto* more = held<double>(other)) *number += *more;
        } else if (const auto* histogram = held<Histogram>(value_)) {
            if (!sum_) sum_ = *histogram;
            if (const auto* more = held<Histogram>(other)) *sum_ += *more;
        }
    }

    Meet meet_;
    Value& value_;
    std::optional<Histogram> sum_;  ///< of distributions: one copy for all rows
};

}  // namespace

std::string_view Table::parent() const {
    const auto dot = name.find('.');
    return dot == std::string::npos ? std::string_view() : std::string_view(name).substr(0, dot);
}

std::optional<std::size_t> Table::find(std::string_view column) const {
    const auto found = std::ranges::find(columns, column, &Column::name);
    if (found == columns.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns.begin());
}

std::optional<std::size_t> Table::find(Type type) const {
    const auto found = std::ranges::find(columns, type, &Column::type);
    if (found == columns.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns.begin());
}

std::size_t Table::place_of(std::string_view column) const {
    return find(column).value();
}

const Value& Table::at(const Row& row, std::string_view column) const {
    static const Value nothing;
    const auto place = find(column);
    return place && *place < row.size() ? row[*place] : nothing;
}

std::string key_of(const Table& table, const Row& row) {
    std::string key;
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (table.columns[i].meet == Meet::key) append_key(row[i], key);
    }
    return key;
}

void fold(Table& table) {
    if (std::ranges::find(table.columns, Meet::never, &Column::meet) != table.columns.end()) return;
    std::unordered_map<std::string, std::size_t> places;
    std::vector<std::vector<std::size_t>> same;  // rows of each key
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        table.rows[i].resize(table.columns.size());
        const auto [place, is_new] = places.emplace(key_of(table, table.rows[i]), same.size());
        if (is_new) same.emplace_back();
        same[place->second].push_back(i);
    }
    if (same.size() == table.rows.size()) return;
    std::vector<Row> rows;
    rows.reserve(same.size());
    for (const auto& of : same) {
        auto& row = rows.emplace_back(std::move(table.rows[of.front()]));
        for (std::size_t column = 0; of.size() > 1 && column < row.size(); ++column) {
            if (table.columns[column].meet == Meet::key) continue;
            Cells cells(table.columns[column].meet, row[column]);
            for (const auto other : std::span(of).subspan(1))
                cells.meet(table.rows[other][column]);
            cells.end();
        }
    }
    table.rows = std::move(rows);
}

void add(Table& into, Table more) {
    std::vector<std::size_t> places;
    for (auto& column : more.columns) {
        auto place = into.find(column.name);
        if (!place) {
            place = into.columns.size();
            into.columns.push_back(std::move(column));
        }
        places.push_back(*place);
    }
    for (auto& row : more.rows) {
        Row moved(into.columns.size());
        for (std::size_t i = 0; i < row.size(); ++i)
            moved[places[i]] = std::move(row[i]);
        into.rows.push_back(std::move(moved));
    }
    fold(into);
}

Table without(Table table, std::initializer_list<std::string_view> columns) {
    for (const auto name : columns) {
        const auto place = table.find(name);
        if (!place) continue;
        const auto at = static_cast<std::ptrdiff_t>(*place);
        table.columns.erase(table.columns.begin() + at);
        for (auto& row : table.rows) {
            if (*place < row.size()) row.erase(row.begin() + at);
        }
    }
    fold(table);
    return table;
}

Table largest_groups(Table table, std::size_t most) {
    const auto place = table.place_of("group");
    const auto is_of_group = [&](const Row& row) {
        const auto* group = held<Group>(row[place]);
        return group != nullptr && !group->empty();
    };
    std::erase_if(table.rows, [&](const Row& row) { return !is_of_group(row); });
    std::map<Group, std::size_t> numbers;
    for (auto& row : table.rows) {
        const auto number = numbers.emplace(*held<Group>(row[place]), numbers.size()).first->second;
        if (number >= most) row[place] = Group{{"other", true}};
    }
    if (numbers.size() < 2) table.rows.clear();
    std::erase_if(table.rows, [&](const Row& row) {
        return std::ranges::any_of(row, [](const Value& cell) {
            const auto* stats = held<Histogram>(cell);
            return stats != nullptr && stats->n() == 0;
        });
    });
    fold(table);
    return table;
}

std::int64_t sum_of(const Table& table, std::string_view column) {
    std::int64_t sum = 0;
    for (const auto& row : table.rows)
        base::add_saturating(sum, count_of(table.at(row, column)));
    return sum;
}

}  // namespace stapgen::table
