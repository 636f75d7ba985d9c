// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "between/ends.h"

namespace stapgen::between {

/// One request at both ends.
struct Pair {
    const End* client = nullptr;
    const End* server = nullptr;
};

struct Join {
    std::vector<Pair> pairs;  ///< by the time at the client
    std::int64_t ambiguous =
        0;  ///< requests of the client whose numbers others have, too, and not as often at both ends
    std::int64_t impossible = 0;   ///< pairs whose server took longer than its client waited: not of one request
    std::int64_t client_only = 0;  ///< not in the server's recording
    std::int64_t server_only = 0;
};

/// The first sequence numbers of request and reply are 64 random bits, which NAT and tunnels keep. Numbers that come
/// twice (4 GiB further on one connection) are of one request each, in order of time, if they are as many at both ends.
/// Sorts both.
Join join(std::vector<End>& client, std::vector<End>& server);

}  // namespace stapgen::between
