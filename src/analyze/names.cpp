// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/names.h"

#include <algorithm>
#include <utility>

#include "kinds/latency/latency.h"

namespace stapgen::analyze {

namespace {

/// Whether any was named.
bool name(table::Group& group, const NameOf& name_of) {
    bool any = false;
    for (auto& field : group) {
        if (auto called = name_of(field)) {
            field.value = *std::move(called);
            any = true;
        }
    }
    return any;
}

}  // namespace

void name_groups(kinds::Measured& measured, const NameOf& name_of) {
    bool any = false;
    table::change_each<table::Group>(measured.tables, [&](table::Group& group) { any |= name(group, name_of); });
    if (auto* breakdowns = table::find(measured.tables, "breakdowns")) {
        for (auto& row : breakdowns->rows)
            std::get<table::Shared<table::Breakdown>>(row.back()).own().name([&](table::Group& group) {
                name(group, name_of);
            });
    }
    if (!any) return;
    for (auto& table : measured.tables) {
        if (!table.find(table::Type::group)) continue;
        fold(table);
        if (table.find("interval")) largest_first(table);
    }
    kinds::latency::sort_groups(measured.tables);
}

}  // namespace stapgen::analyze
