// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/drop_names.h"

#include <fmt/format.h>

#include "session/namer.h"

namespace stapgen::serve {

void DropNames::put_into(std::vector<analyze::Drop>& drops, const recording::RunFacts& facts) {
    const auto key_of = [](const analyze::Drop& drop) {
        return Key(drop.place.address, drop.place.symbol, drop.reason.number);
    };
    std::vector<Key> keys;
    analyze::Summary unknown;
    for (const auto& drop : drops) {
        if (known_.contains(key_of(drop))) continue;
        keys.push_back(key_of(drop));
        unknown.drops.push_back(drop);
    }
    if (!keys.empty()) (void)session::Namer().put_into(unknown, facts);  // names of this machine are never refused
    for (std::size_t i = 0; i < keys.size(); ++i) {
        auto& drop = unknown.drops[i];
        if (!drop.place.symbol) drop.place.symbol = "unknown";
        if (!drop.reason.name && drop.reason.number >= 0) drop.reason.name = fmt::to_string(drop.reason.number);
        drop.reason.number = -1;
        drop.place.address.reset();
        drop.place.offset.reset();
        known_.emplace(keys[i], std::move(drop));
    }
    for (auto& drop : drops) {
        const auto count = drop.count;
        drop = known_.at(key_of(drop));
        drop.count = count;
    }
}

}  // namespace stapgen::serve
