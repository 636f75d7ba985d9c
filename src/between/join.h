// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "between/ends.h"

namespace stapgen::between {

/// What says that two ends are one request's.
enum class Match : std::uint8_t {
    numbers,     ///< the sequence numbers of request and reply
    difference,  ///< one of them; the other one differs by as much in all requests of the connection, as by SYNPROXY
    position,    ///< both differ so: their places in the connection's data, between the same two addresses
};
std::string_view match_text(Match match);

/// One request at both ends: of the client's ends and of the server's.
struct Pair {
    std::uint32_t client = 0, server = 0;
    Match match = Match::numbers;
};

struct Join {
    std::vector<Pair> pairs{};  ///< by the time at the client
    /// Requests of the client whose numbers others have, too, and not as often at both ends.
    std::int64_t ambiguous = 0;
    std::int64_t impossible = 0;   ///< pairs whose server took longer than its client waited: not of one request
    std::int64_t client_only = 0;  ///< not in the server's recording
    std::int64_t server_only = 0;
};

/// By their numbers, and by time where these are equal. What is sorted stays as it is.
void sort_ends(std::vector<End>& ends);

/// One side of a join.
struct Ends {
    std::vector<End>& ends;
    const std::vector<Connection>& connections;
    bool is_capture = false;  ///< its connections have the client first
};

/// The first sequence numbers of request and reply are 64 random bits, which NAT and tunnels keep. Numbers that come
/// twice (4 GiB further on one connection) are of one request each, in order of time, if they are as many at both ends.
/// What a box changes differs by a constant in each connection: that is believed of `fewest_alike` requests of one pair
/// of connections or more. Sorts both.
Join join(const Ends& client, const Ends& server);

inline constexpr std::size_t fewest_alike = 3;

}  // namespace stapgen::between
