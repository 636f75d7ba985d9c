// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/kind.h"

#include <utility>

namespace stapgen::kinds {

void set_interval(table::Table& table, const Asked& asked) {
    const auto interval = table.find("interval");
    if (!asked.interval || !interval) return;
    for (auto& row : table.rows)
        row[*interval] = *asked.interval;
}

table::Table one_fact(std::string name, table::Type type, table::Value value, bool is_rare) {
    return {.name = name,
            .columns = {{name, type, table::Meet::same, is_rare}},
            .rows = {{std::move(value)}},
            .shape = table::Shape::fields};
}

}  // namespace stapgen::kinds
