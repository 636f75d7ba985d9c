// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/results.h"

#include <algorithm>

namespace stapgen::table {

namespace {

const Table& first_of(const std::vector<Table>& tables, auto is_meant) {
    static const Table none;
    const auto found = std::ranges::find_if(tables, is_meant);
    return found == tables.end() ? none : *found;
}

}  // namespace

const Table& Results::at(std::string_view name, Scope scope) const {
    return first_of(tables, [&](const Table& table) { return table.name == name && table.scope == scope; });
}

const Table& Results::at(std::string_view name) const {
    return first_of(tables, [&](const Table& table) { return table.name == name && table.scope != Scope::intervals; });
}

const Value& Results::fact(std::string_view table, std::string_view column) const {
    static const Value nothing;
    const auto& known = at(table);
    return known.rows.empty() ? nothing : known.at(known.rows.front(), column);
}

}  // namespace stapgen::table
