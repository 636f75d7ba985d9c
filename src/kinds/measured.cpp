// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/measured.h"

#include <utility>

#include "recording/identity.h"

namespace stapgen::kinds {

bool Run::is_whole() const {
    return broke_off.empty() && accounting.closed && accounting.lost_total() == 0 && accounting.unaccounted() == 0 &&
           accounting.below_zero() == 0 && transport.skipped_probes == 0 && transport.probe_errors == 0 &&
           transport.transport_failures == 0;
}

const table::Table& Measured::at(std::string_view name) const {
    static const table::Table none;
    const auto* found = table::find(tables, name);
    return found == nullptr ? none : *found;
}

table::Table Measured::or_empty(table::Table empty) const {
    const auto* found = table::find(tables, empty.name);
    return found == nullptr ? std::move(empty) : *found;
}

const table::Value& Measured::fact(std::string_view table, std::string_view column) const {
    static const table::Value nothing;
    const auto& known = at(table);
    return known.rows.empty() ? nothing : known.at(known.rows.front(), column);
}

table::Table intervals_table() {
    using table::Meet, table::Type;
    return {.name = "intervals",
            .columns = {{"interval", Type::count, Meet::goes_on},
                        {"start", Type::time, Meet::smallest},
                        {"end", Type::time, Meet::largest}},
            .shape = table::Shape::none};
}

std::string merge_conflict_of(const Run& run, const Run& other) {
    const auto origin_of = [](const Run& of) { return of.origins.empty() ? Origin() : of.origins.front(); };
    return recording::unlike_text(origin_of(run), origin_of(other));
}

}  // namespace stapgen::kinds
