// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/table.h"

#include <algorithm>
#include <functional>
#include <map>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "base/saturate.h"

namespace stapgen::table {

namespace {

/// Both hold the same type.
void add_cell(Value& value, Value& more) {
    std::visit(
        [&]<class T>(T& known) {
            auto& other = std::get<T>(more);
            if constexpr (std::is_same_v<T, std::int64_t>) {
                base::add_saturating(known, other);
            } else if constexpr (std::is_same_v<T, double>) {
                known += other;
            } else if constexpr (std::is_same_v<T, Shared<Series>>) {
                known.own() += std::move(other.own());
            } else if constexpr (requires { known.own() += *other; }) {
                known.own() += *other;
            }
        },
        value);
}

/// What becomes of a cell where another of its key comes up.
void meet(Meet meet, Value& value, Value& other) {
    if (meet == Meet::same) {
        if (value != other) value = {};
    } else if (std::holds_alternative<std::monostate>(value)) {
        value = std::move(other);
    } else if (value.index() != other.index()) {
        return;
    } else if (meet == Meet::add) {
        add_cell(value, other);
    } else if ((meet == Meet::smallest && other < value) || (meet == Meet::largest && value < other)) {
        value = std::move(other);
    }
}

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
        if (is_key(table.columns[i])) append_key(row[i], key);
    }
    return key;
}

void fold(Table& table) {
    if (std::ranges::find(table.columns, Meet::never, &Column::meet) != table.columns.end()) return;
    std::unordered_map<std::string, std::size_t> places;
    std::size_t end = 0;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        auto& row = table.rows[i];
        row.resize(table.columns.size());
        const auto [place, is_new] = places.emplace(key_of(table, row), end);
        if (is_new) {
            if (i != end) table.rows[end] = std::move(row);
            ++end;
            continue;
        }
        auto& first = table.rows[place->second];
        for (std::size_t column = 0; column < row.size(); ++column) {
            if (!is_key(table.columns[column])) meet(table.columns[column].meet, first[column], row[column]);
        }
    }
    table.rows.resize(end);
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
    const auto room = into.most == 0 ? more.rows.size() : into.most - std::min(into.most, into.rows.size());
    base::add_saturating(into.left_out, more.left_out);
    if (more.rows.size() > room) {
        base::add_saturating(into.left_out, static_cast<std::int64_t>(more.rows.size() - room));
        more.rows.resize(room);
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

Table largest_groups(Table table, std::size_t most, std::string_view rest) {
    const auto place = table.place_of("group");
    const auto is_of_group = [&](const Row& row) {
        const auto* group = held<Group>(row[place]);
        return group != nullptr && !group->empty();
    };
    std::erase_if(table.rows, [&](const Row& row) { return !is_of_group(row); });
    const Group of_rest{{std::string(rest), true}};
    std::map<Group, std::size_t> numbers;
    for (auto& row : table.rows) {
        const auto number = numbers.emplace(*held<Group>(row[place]), numbers.size()).first->second;
        if (number >= most) row[place] = of_rest;
    }
    if (numbers.size() < 2) table.rows.clear();
    // std::ranges' one is more than clang 14 can take, which compiles the fuzzers.
    std::stable_partition(table.rows.begin(), table.rows.end(),
                          [&](const Row& row) { return *held<Group>(row[place]) != of_rest; });
    fold(table);
    std::erase_if(table.rows, [](const Row& row) {
        return std::ranges::any_of(row, [](const Value& cell) {
            const auto* stats = held<Histogram>(cell);
            return stats != nullptr && stats->n() == 0;
        });
    });
    return table;
}

void largest_first(Table& table) {
    std::vector<std::size_t> keys;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        if (table.columns[i].meet == Meet::key) keys.push_back(i);
    }
    const auto interval = table.find("interval");
    const auto count = table.place_of("count");
    std::ranges::stable_sort(table.rows, [&](const Row& a, const Row& b) {
        if (interval && a[*interval] != b[*interval]) return a[*interval] < b[*interval];
        if (a[count] != b[count]) return a[count] > b[count];
        const auto differs = std::ranges::find_if(keys, [&](std::size_t key) { return a[key] != b[key]; });
        return differs != keys.end() && a[*differs] < b[*differs];
    });
}

Table* find(Tables& tables, std::string_view name) {
    const auto found = std::ranges::find(tables, name, &Table::name);
    return found == tables.end() ? nullptr : &*found;
}

const Table* find(const Tables& tables, std::string_view name) {
    return find(const_cast<Tables&>(tables), name);
}

namespace {

/// By column: how much its numbers must grow to follow those that are there.
std::map<std::string, std::int64_t> shifts_of(const Tables& into, const Tables& more) {
    using Bound = std::map<std::string, std::int64_t>;
    const auto bound_of = [](const Tables& tables, auto farther) {
        Bound bounds;
        for (const auto& table : tables) {
            for (std::size_t i = 0; i < table.columns.size(); ++i) {
                if (table.columns[i].meet != Meet::goes_on) continue;
                for (const auto& row : table.rows) {
                    const auto number = count_of(row[i]);
                    const auto [bound, is_new] = bounds.emplace(table.columns[i].name, number);
                    if (!is_new && farther(number, bound->second)) bound->second = number;
                }
            }
        }
        return bounds;
    };
    const auto last = bound_of(into, std::greater()), first = bound_of(more, std::less());
    Bound shifts;
    for (const auto& [name, number] : first) {
        if (const auto found = last.find(name); found != last.end())
            shifts[name] = base::saturating_subtract(base::saturating_add(found->second, 1), number);
    }
    return shifts;
}

}  // namespace

void append(Tables& into, Tables more) {
    const auto shifts = shifts_of(into, more);
    for (auto& table : more) {
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            const auto shift = shifts.find(table.columns[i].name);
            if (table.columns[i].meet != Meet::goes_on || shift == shifts.end()) continue;
            for (auto& row : table.rows)
                row[i] = base::saturating_add(count_of(row[i]), shift->second);
        }
        if (auto* known = find(into, table.name)) {
            add(*known, std::move(table));
        } else {
            into.push_back(std::move(table));
        }
    }
}

std::int64_t sum_of(const Table& table, std::string_view column) {
    std::int64_t sum = 0;
    for (const auto& row : table.rows)
        base::add_saturating(sum, count_of(table.at(row, column)));
    return sum;
}

}  // namespace stapgen::table
