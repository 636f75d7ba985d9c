// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/drop_names.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>
#include <vector>

#include "session/namer.h"

namespace stapgen::serve {

void DropNames::put_into(kinds::Measured& interval, const recording::RunFacts& facts) {
    auto* drops = table::find(interval.tables, "drops");
    if (drops == nullptr || drops->rows.empty()) return;
    const auto place = drops->place_of("place"), reason = drops->place_of("reason");
    const auto key_of_row = [&](const table::Row& row) { return Key(row[place], row[reason]); };
    kinds::Measured unknown;
    auto& rows = unknown.tables.emplace_back(*drops).rows;
    std::erase_if(rows, [&](const table::Row& row) { return known_.contains(key_of_row(row)); });
    std::vector<Key> keys;
    for (const auto& row : rows)
        keys.push_back(key_of_row(row));
    if (!keys.empty()) (void)session::Namer().put_into(unknown, facts);  // names of this machine are never refused
    table::change_each<table::Place>(unknown.tables, [](table::Place& named) {
        if (!named.symbol) named.symbol = "unknown";
        named.address.reset();
        named.offset.reset();
    });
    table::change_each<table::Reason>(unknown.tables, [](table::Reason& named) {
        if (!named.name && named.number >= 0) named.name = fmt::to_string(named.number);
        named.number = -1;
    });
    const auto& named = unknown.tables.front().rows;
    for (std::size_t i = 0; i < keys.size(); ++i)
        known_.emplace(keys[i], Key(named[i][place], named[i][reason]));
    for (auto& row : drops->rows)
        std::tie(row[place], row[reason]) = known_.at(key_of_row(row));
}

}  // namespace stapgen::serve
