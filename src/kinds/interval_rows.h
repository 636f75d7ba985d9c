// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "kinds/measured.h"
#include "table/merge.h"

namespace stapgen::kinds {

/// Rows by the texts of what their records have in common: of the interval that is under way, and of those before it.
/// Of more than about.most one row has the sum.
template <class Row>
class IntervalRows {
  public:
    /// `make_other`: of a row beyond the limit, all but its sums.
    explicit IntervalRows(void (*make_other)(Row&)) : make_other_(make_other) {}

    void add(std::string_view key, Row row) { add_to(open_, key, std::move(row)); }
    void close_interval() {
        add_open(whole_);
        open_.clear();
    }
    void put_into(Measured& measured, bool is_open) const {
        if (!is_open) return put(measured, whole_);
        auto rows = whole_;
        add_open(rows);
        put(measured, rows);
    }
    void put_interval(Measured& measured) const { put(measured, open_); }

  private:
    using Rows = std::map<std::string, Row, std::less<>>;

    void add_to(Rows& rows, std::string_view key, Row row) const {
        const bool is_full = rows.size() >= Row::about.most && !rows.contains(key);
        auto [found, is_new] = rows.try_emplace(is_full ? std::string() : std::string(key), row);
        if (!is_new) return table::merge_row(found->second, row);
        if (is_full) make_other_(found->second);
    }
    void add_open(Rows& rows) const {
        for (const auto& [key, row] : open_)
            add_to(rows, key, row);
    }
    static void put(Measured& measured, const Rows& rows) {
        auto& table = measured.of<Row>();
        table.is_there = true;
        for (const auto& [key, row] : rows)
            table.push_back(row);
    }

    void (*make_other_)(Row&);
    Rows whole_, open_;
};

}  // namespace stapgen::kinds
