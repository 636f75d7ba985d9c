// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "recording/facts.h"

/// Requests as each of two hosts has them, by records of the recipe both-ends.
namespace stapgen::between {

inline constexpr std::uint32_t no_connection = 0xffffffff;  ///< its record does not say

/// One request at one end. Times are ns since 1970 by the clock of that end's host.
struct End {
    std::uint32_t seq = 0, reply_seq = 0;      ///< of the first byte of the request and of its reply
    std::uint32_t connection = no_connection;  ///< of Host::connections
    /// Client: the request's last byte left, its reply's first one came. Server: the request's last byte came, its
    /// reply's first one left.
    std::int64_t from = 0, to = 0;
    std::int64_t before = 0, after = 0;  ///< ns at a client: from its send call; and from `to` until the reply was read
    std::int64_t rest = 0;               ///< of the latter, until the reply's last segment came

    [[nodiscard]] std::uint64_t key() const { return std::uint64_t{seq} << 32U | reply_seq; }
};

/// A question that a host asks as a client for a request that it has as a server.
struct Asked {
    std::uint32_t seq = 0, reply_seq = 0;  ///< of the question
    std::int64_t from = 0;                 ///< End::from
    std::uint32_t for_seq = 0;             ///< the request's first sequence number
    std::uint32_t for_stream = 0;          ///< that of all that is sent back on its connection
    std::int64_t process = 0;

    [[nodiscard]] std::uint64_t key() const { return std::uint64_t{seq} << 32U | reply_seq; }
};

/// A segment that an end has sent again, by its request.
struct Resent {
    std::uint32_t connection = no_connection, seq = 0;
};

struct Connection {
    std::string local, remote;  ///< as people write them
    /// The first sequence number of its data to the server, and of the data back, where they are known.
    std::optional<std::uint32_t> first{}, reply_first{};
};

/// A stage of a host's part in its requests.
struct Step {
    std::string stage;
    std::int64_t sum_ns = 0, n = 0;  ///< of the records that have it
};

struct Side {
    std::vector<End> ends;
    std::vector<Resent> resent;
    std::vector<Step> steps;
};

struct Host {
    std::string name{}, file{};  ///< as they are shown
    std::vector<Connection> connections{};
    Side client{}, server{};
    bool says_for = false;             ///< its recording says for which request a question is, where that is known
    std::vector<Asked> asked{};        ///< those that say
    std::set<std::int64_t> handing{};  ///< processes that hand requests from thread to thread
    Side capture{};                    ///< of either end: by a capture of packets, which does not know which
    std::vector<recording::Cause> not_measured{};  ///< requests that it has seen, and has no record of
};

/// What one recording may have: more are refused.
inline constexpr std::size_t most_requests = 10'000'000, most_connections = 1'000'000, most_processes = 10'000;

/// That a host has more of them.
std::string full_text(const std::string& host, std::size_t most);

/// Times of ends are from 1970 to 2116, so that differences of them are numbers.
inline constexpr std::int64_t end_of_time = std::int64_t{1} << 62;
inline bool is_time(std::int64_t ns) {
    return ns >= 0 && ns < end_of_time;
}

}  // namespace stapgen::between
