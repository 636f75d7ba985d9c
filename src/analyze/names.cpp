// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/names.h"

#include <algorithm>
#include <utility>

#include "table/merge.h"

namespace stapgen::analyze {

namespace {

/// Whether any was named.
bool name(table::Group& group, const NameOf& name_of) {
    bool any = false;
    for (auto& field : group) {
        if (auto called = name_of(group, field)) {
            field.value = *std::move(called);
            any = true;
        }
    }
    return any;
}

}  // namespace

void name_groups(kinds::Measured& measured, const NameOf& name_of) {
    bool any = false;
    table::change_each<table::Group>(measured, [&](table::Group& group) { any |= name(group, name_of); });
    for (auto& row : measured.of<rows::Breakdown>())
        row.breakdown.own().name([&](table::Group& group) { name(group, name_of); });
    if (!any) return;
    measured.each([]<class Row>(table::TableOf<Row>& rows) {
        if constexpr (requires(Row row) { row.group; }) {
            table::fold(rows);
            if constexpr (rows::is_of_interval<Row>) table::largest_first(rows);
        }
    });
    rows::sort_groups(measured.of<rows::Stage>(), measured.of<rows::Value>());
}

}  // namespace stapgen::analyze
