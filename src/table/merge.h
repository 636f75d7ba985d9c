// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/saturate.h"
#include "table/cells.h"
#include "table/key_bytes.h"
#include "table/row.h"

/// What becomes of rows that have the same key.
namespace stapgen::table {

template <class Row>
void merge_row(Row& into, Row& more);
template <class Row>
void fold(std::vector<Row>& rows);

template <class Cell>
void add_cell(Cell& into, Cell&& more) {
    if constexpr (is_row<Cell>) {
        merge_row(into, more);
    } else if constexpr (is_rows<Cell>) {
        into.insert(into.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
        fold(into);
    } else if constexpr (is_optional<Cell>) {
        if (!into) {
            into = std::move(more);
        } else if (more) {
            add_cell(*into, *std::move(more));
        }
    } else if constexpr (std::is_same_v<Cell, std::int64_t>) {
        base::add_saturating(into, more);
    } else if constexpr (is_shared<Cell>) {
        into.own() += std::as_const(*more);
    } else {
        into += more;
    }
}

template <class Cell>
[[nodiscard]] bool is_known(const Cell& cell) {
    if constexpr (is_optional<Cell>) {
        return cell.has_value();
    } else {
        return true;
    }
}

template <class Rule, class Cell>
void merge_cell(Cell& into, Cell& more) {
    if constexpr (std::is_same_v<Rule, Sum>) {
        add_cell(into, std::move(more));
    } else if constexpr (std::is_same_v<Rule, Same>) {
        if (into != more) into = {};
    } else if constexpr (!std::is_same_v<Rule, Separate>) {
        bool is_wanted = !is_known(into);
        if constexpr (std::is_same_v<Rule, Smallest>) is_wanted |= is_known(more) && more < into;
        if constexpr (std::is_same_v<Rule, Largest>) is_wanted |= is_known(more) && into < more;
        if (is_wanted) into = std::move(more);
    }
}

template <class Row>
void merge_row(Row& into, Row& more) {
    each_column<Row>([&]<class Rule>(Rule /*rule*/, auto /*name*/, auto member, const Shown& /*shown*/) {
        if constexpr (!is_key_rule<Rule>) merge_cell<Rule>(into.*member, more.*member);
    });
}

/// Bytes that only rows of the same key have.
template <class Row>
[[nodiscard]] std::string key_of(const Row& row) {
    std::string key;
    each_column<Row>([&]<class Rule>(Rule /*rule*/, auto /*name*/, auto member, const Shown& /*shown*/) {
        if constexpr (is_key_rule<Rule>) append_key(row.*member, key);
    });
    return key;
}

/// Rows of the same key become one, in the place of the first of them.
template <class Row>
void fold(std::vector<Row>& rows) {
    if constexpr (!has_rule<Row, Separate>()) {
        std::unordered_map<std::string, std::size_t> places;
        std::size_t end = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto [place, is_new] = places.emplace(key_of(rows[i]), end);
            if (!is_new) {
                merge_row(rows[place->second], rows[i]);
                continue;
            }
            if (i != end) rows[end] = std::move(rows[i]);
            ++end;
        }
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(end), rows.end());
    }
}

/// The rows of `more` behind those of `into`, folded, up to the limit.
template <class Row>
void add(TableOf<Row>& into, TableOf<Row> more) {
    constexpr std::size_t most = Row::about.most;
    const auto room = most == 0 ? more.size() : most - std::min(most, into.size());
    base::add_saturating(into.left_out, more.left_out);
    if (more.size() > room) {
        base::add_saturating(into.left_out, static_cast<std::int64_t>(more.size() - room));
        more.erase(more.begin() + static_cast<std::ptrdiff_t>(room), more.end());
    }
    into.is_there = into.is_there || more.is_there;
    into.insert(into.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    fold(into);
}

/// Calls with each number of each column that continues.
void each_continued(auto& tables, const auto& visit) {
    tables.each([&]<class Row>(TableOf<Row>& rows) {
        each_column<Row>([&]<class Rule>(Rule /*rule*/, auto name, auto member, const Shown& /*shown*/) {
            if constexpr (std::is_same_v<Rule, Continues>) {
                for (auto& row : rows)
                    visit(name.text, row.*member);
            }
        });
    });
}

/// A measurement behind an earlier one of the same kind: rows of one key merge, what continues gets higher numbers.
template <class Tables>
void append(Tables& into, Tables more) {
    using Bounds = std::map<std::string_view, std::int64_t>;  // by column
    const auto bounds_of = [](Tables& tables, auto farther) {
        Bounds bounds;
        each_continued(tables, [&](std::string_view column, std::int64_t number) {
            const auto [bound, is_new] = bounds.emplace(column, number);
            if (!is_new && farther(number, bound->second)) bound->second = number;
        });
        return bounds;
    };
    const auto last = bounds_of(into, std::greater()), first = bounds_of(more, std::less());
    each_continued(more, [&](std::string_view column, std::int64_t& number) {
        if (const auto found = last.find(column); found != last.end()) {
            const auto shift = base::saturating_subtract(base::saturating_add(found->second, 1), first.at(column));
            number = base::saturating_add(number, shift);
        }
    });
    into.each([&]<class Row>(TableOf<Row>& rows) { add(rows, std::move(more.template of<Row>())); });
}

/// The order of keys that do not continue, in the order of the columns.
template <class Row>
[[nodiscard]] bool is_key_less(const Row& a, const Row& b) {
    std::strong_ordering order = std::strong_ordering::equal;
    each_column<Row>([&]<class Rule>(Rule /*rule*/, auto /*name*/, auto member, const Shown& /*shown*/) {
        if constexpr (std::is_same_v<Rule, Key>) {
            if (order == 0) order = a.*member <=> b.*member;
        }
    });
    return order < 0;
}

/// By interval where there are any, in each the largest count first; of one size by their keys.
template <class Row>
void largest_first(std::vector<Row>& rows) {
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        if constexpr (requires { a.interval; }) {
            if (a.interval != b.interval) return a.interval < b.interval;
        }
        if (a.count != b.count) return a.count > b.count;
        return is_key_less(a, b);
    });
}

/// The rows of groups that have values: those of the first `most` groups, and behind them the sums of the others, whose
/// group is {"other": true}, or of that key. None where there is one group only.
template <class Row>
[[nodiscard]] std::vector<Row> largest_groups(std::vector<Row> rows, std::size_t most, const char* rest = "other") {
    std::erase_if(rows, [](const Row& row) { return row.group.empty(); });
    const Group of_rest{{rest, true}};
    std::map<Group, std::size_t> numbers;
    for (auto& row : rows) {
        const auto number = numbers.emplace(row.group, numbers.size()).first->second;
        if (number >= most) row.group = of_rest;
    }
    if (numbers.size() < 2) rows.clear();
    // std::ranges' one is more than clang 14 can take, which compiles the fuzzers.
    std::stable_partition(rows.begin(), rows.end(), [&](const Row& row) { return row.group != of_rest; });
    fold(rows);
    std::erase_if(rows, [](const Row& row) { return row.distribution->n() == 0; });
    return rows;
}

/// Calls with each value of that type in all rows, which may change it: once for all cells that share it.
template <class T, class Tables>
void change_each(Tables& tables, const auto& change) {
    tables.each([&]<class Row>(TableOf<Row>& rows) {
        // From and to: what is kept has no other's address.
        std::map<const T*, std::pair<Shared<T>, Shared<T>>> changed;
        const auto change_shared = [&](Shared<T>& cell) {
            auto known = changed.find(&*cell);
            if (known == changed.end()) {
                auto value = *cell;
                change(value);
                const auto to = value == *cell ? cell : Shared<T>(std::move(value));
                known = changed.emplace(&*cell, std::pair(cell, to)).first;
            }
            cell = known->second.second;
        };
        each_column<Row>([&](auto /*rule*/, auto /*name*/, auto member, const Shown& /*shown*/) {
            using Cell = std::remove_cvref_t<decltype(std::declval<Row&>().*member)>;
            for (auto& row : rows) {
                auto& cell = row.*member;
                if constexpr (std::is_same_v<Cell, T>) change(cell);
                if constexpr (std::is_same_v<Cell, Shared<T>>) change_shared(cell);
                if constexpr (std::is_same_v<Cell, std::optional<Shared<T>>>) {
                    if (cell) change_shared(*cell);
                }
            }
        });
    });
}

}  // namespace stapgen::table
