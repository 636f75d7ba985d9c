// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/join.h"

#include <algorithm>
#include <utility>

namespace stapgen::between {

namespace {

void sort(std::vector<End>& ends) {
    std::ranges::sort(ends, {}, [](const End& end) { return std::pair(end.key(), end.from); });
}

using At = std::vector<End>::const_iterator;

At behind_key(At at, At end) {
    const auto key = at->key();
    while (at != end && at->key() == key)
        ++at;
    return at;
}

}  // namespace

Join join(std::vector<End>& client, std::vector<End>& server) {
    sort(client);
    sort(server);
    Join joined;
    auto here = client.cbegin();
    auto there = server.cbegin();
    const auto here_end = client.cend(), there_end = server.cend();
    while (here != here_end || there != there_end) {
        if (there == there_end || (here != here_end && here->key() < there->key())) {
            ++joined.client_only;
            ++here;
        } else if (here == here_end || there->key() < here->key()) {
            ++joined.server_only;
            ++there;
        } else {
            const auto behind_here = behind_key(here, here_end), behind_there = behind_key(there, there_end);
            if (behind_here - here != behind_there - there) {
                joined.ambiguous += behind_here - here;
                here = behind_here;
                there = behind_there;
            }
            for (; here != behind_here; ++here, ++there) {
                if (here->to - here->from < there->to - there->from) {
                    ++joined.impossible;
                } else {
                    joined.pairs.push_back({&*here, &*there});
                }
            }
        }
    }
    std::ranges::sort(joined.pairs, {}, [](const Pair& pair) { return pair.client->from; });
    return joined;
}

}  // namespace stapgen::between
