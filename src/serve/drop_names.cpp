// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/drop_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "session/namer.h"

namespace stapgen::serve {

void DropNames::put_into(kinds::Measured& interval, const recording::RunFacts& facts) {
    auto& drops = interval.of<rows::OfInterval<rows::Drop>>();
    kinds::Measured unknown;
    auto& unnamed = unknown.of<rows::OfInterval<rows::Drop>>();
    std::ranges::copy_if(drops, std::back_inserter(unnamed),
                         [&](const rows::Drop& drop) { return !known_.contains(Key(drop.place, drop.reason)); });
    std::vector<Key> keys;
    for (const auto& drop : unnamed)
        keys.emplace_back(drop.place, drop.reason);
    if (!keys.empty()) (void)session::Namer().put_into(unknown, facts);  // names of this machine are never refused
    for (std::size_t i = 0; i < keys.size(); ++i) {
        auto& [place, reason] = known_[keys[i]];
        place = unnamed[i].place;
        reason = unnamed[i].reason;
        if (!place.symbol) place.symbol = "unknown";
        place.address.reset();
        place.offset.reset();
        if (!reason.name && reason.number >= 0) reason.name = fmt::to_string(reason.number);
        reason.number = -1;
    }
    for (auto& drop : drops)
        std::tie(drop.place, drop.reason) = known_.at(Key(drop.place, drop.reason));
}

}  // namespace stapgen::serve
