// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/join.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace stapgen::between {

namespace {

using Numbers = std::vector<std::uint32_t>;  ///< of ends

struct Left {
    Numbers client, server;
};

/// Whether a server can have had a request for as long as it says. Clocks of two hosts may differ by some 100 ppm,
/// which is more than the way of a request that takes a second.
bool is_possible(const End& client, const End& server) {
    constexpr std::int64_t most_drift = 5'000;  // one part of N
    const auto served = server.to - server.from;
    return client.to - client.from >= served - served / most_drift;
}

/// By both numbers. Returns what is left of either.
Left join_exactly(const std::vector<End>& client, const std::vector<End>& server, Join& joined) {
    Left left;
    const auto behind_key = [](const std::vector<End>& ends, std::size_t at) {
        const auto key = ends[at].key();
        while (at < ends.size() && ends[at].key() == key)
            ++at;
        return static_cast<std::uint32_t>(at);
    };
    std::uint32_t here = 0, there = 0;
    while (here < client.size() || there < server.size()) {
        if (there == server.size() || (here < client.size() && client[here].key() < server[there].key())) {
            left.client.push_back(here++);
        } else if (here == client.size() || server[there].key() < client[here].key()) {
            left.server.push_back(there++);
        } else {
            const auto behind_here = behind_key(client, here), behind_there = behind_key(server, there);
            if (behind_here - here != behind_there - there) {
                joined.ambiguous += behind_here - here;
                here = behind_here;
                there = behind_there;
            }
            for (; here != behind_here; ++here, ++there) {
                if (is_possible(client[here], server[there])) {
                    joined.pairs.push_back({here, there});
                } else {
                    ++joined.impossible;
                }
            }
        }
    }
    return left;
}

/// Two ends that may be of one request, and what all requests of their connections then have in common.
struct Candidate {
    std::uint32_t client_connection = 0, server_connection = 0, difference = 0;
    std::uint32_t client = 0, server = 0;

    [[nodiscard]] auto alike() const { return std::tuple(client_connection, server_connection, difference); }
};

/// The number that no box has changed is equal.
std::vector<Candidate> of_one_number(const Ends& client, const Ends& server, Left& left, std::uint32_t End::*kept,
                                     std::uint32_t End::*changed) {
    constexpr std::size_t most_equal = 2;  // more say nothing
    std::vector<Candidate> candidates;
    std::ranges::sort(left.client, {}, [&](std::uint32_t at) { return client.ends[at].*kept; });
    std::ranges::sort(left.server, {}, [&](std::uint32_t at) { return server.ends[at].*kept; });
    for (auto here = left.client.begin(); here != left.client.end();) {
        const auto number = client.ends[*here].*kept;
        const auto behind =
            std::find_if(here, left.client.end(), [&](std::uint32_t at) { return client.ends[at].*kept != number; });
        const auto found =
            std::ranges::equal_range(left.server, number, {}, [&](std::uint32_t at) { return server.ends[at].*kept; });
        if (behind - here <= static_cast<std::ptrdiff_t>(most_equal) && found.size() <= most_equal) {
            for (const auto at : std::ranges::subrange(here, behind)) {
                for (const auto there : found) {
                    const auto &asked = client.ends[at], &served = server.ends[there];
                    if (asked.connection == no_connection || served.connection == no_connection) continue;
                    candidates.push_back(
                        {asked.connection, served.connection, asked.*changed - served.*changed, at, there});
                }
            }
        }
        here = behind;
    }
    return candidates;
}

/// The places in the data of one connection between two addresses are equal.
std::vector<Candidate> of_places(const Ends& client, const Ends& server, const Left& left) {
    std::map<std::pair<std::string_view, std::string_view>, Numbers> connections;
    for (std::uint32_t number = 0; number < server.connections.size(); ++number) {
        const auto& connection = server.connections[number];
        if (!connection.first || !connection.reply_first) continue;
        auto ends = std::pair<std::string_view, std::string_view>(connection.remote, connection.local);
        if (server.is_capture) std::swap(ends.first, ends.second);
        connections[ends].push_back(number);
    }
    if (connections.empty()) return {};
    using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    const auto place_of = [](const Ends& side, const End& end) -> std::optional<Place> {
        if (end.connection == no_connection) return std::nullopt;
        const auto& connection = side.connections[end.connection];
        if (!connection.first || !connection.reply_first) return std::nullopt;
        return Place(end.connection, end.seq - *connection.first, end.reply_seq - *connection.reply_first);
    };
    std::vector<std::pair<Place, std::uint32_t>> places;
    for (const auto at : left.server)
        if (const auto place = place_of(server, server.ends[at])) places.emplace_back(*place, at);
    std::ranges::sort(places);
    std::vector<Candidate> candidates;
    for (const auto at : left.client) {
        const auto place = place_of(client, client.ends[at]);
        if (!place) continue;
        const auto& [number, sent, received] = *place;
        const auto found = connections.find({client.connections[number].local, client.connections[number].remote});
        // Of several with these addresses, one after the other, no one knows which it is.
        if (found == connections.end() || found->second.size() != 1) continue;
        const auto other = found->second.front();
        for (const auto& [there, server_at] : std::ranges::equal_range(places, Place(other, sent, received), {},
                                                                       [](const auto& entry) { return entry.first; }))
            candidates.push_back({number, other, 0, at, server_at});
    }
    return candidates;
}

/// Of the candidates that enough others are like, those whose ends no other such candidate has.
void take(std::vector<Candidate> candidates, Match match, const Ends& client, const Ends& server, Left& left,
          Join& joined) {
    std::ranges::sort(candidates, {}, &Candidate::alike);
    auto kept = candidates.begin();
    for (auto at = candidates.begin(); at != candidates.end();) {
        const auto behind =
            std::find_if(at, candidates.end(), [&](const Candidate& other) { return other.alike() != at->alike(); });
        if (behind - at >= static_cast<std::ptrdiff_t>(fewest_alike)) kept = std::move(at, behind, kept);
        at = behind;
    }
    candidates.erase(kept, candidates.end());
    if (candidates.empty()) return;
    enum : char { free, wanted, contested, taken };
    std::vector<char> of_client(client.ends.size(), free), of_server(server.ends.size(), free);
    for (const auto& candidate : candidates)
        for (auto* state : {&of_client[candidate.client], &of_server[candidate.server]})
            *state = *state == free ? wanted : contested;
    for (const auto& candidate : candidates) {
        auto &here = of_client[candidate.client], &there = of_server[candidate.server];
        if (here != wanted || there != wanted) continue;
        here = there = taken;
        if (is_possible(client.ends[candidate.client], server.ends[candidate.server])) {
            joined.pairs.push_back({candidate.client, candidate.server, match});
        } else {
            ++joined.impossible;
        }
    }
    std::erase_if(left.client, [&](std::uint32_t at) { return of_client[at] == taken; });
    std::erase_if(left.server, [&](std::uint32_t at) { return of_server[at] == taken; });
}

}  // namespace

void sort_ends(std::vector<End>& ends) {
    const auto by = [](const End& end) { return std::pair(end.key(), end.from); };
    if (!std::ranges::is_sorted(ends, {}, by)) std::ranges::sort(ends, {}, by);
}

std::string_view match_text(Match match) {
    constexpr std::array<std::string_view, 3> texts{"numbers", "difference", "position"};
    return texts[static_cast<std::size_t>(match)];
}

Join join(const Ends& client, const Ends& server) {
    sort_ends(client.ends);
    sort_ends(server.ends);
    Join joined;
    auto left = join_exactly(client.ends, server.ends, joined);
    const auto take_next = [&](std::vector<Candidate> candidates, Match match) {
        take(std::move(candidates), match, client, server, left, joined);
    };
    take_next(of_one_number(client, server, left, &End::seq, &End::reply_seq), Match::difference);
    take_next(of_one_number(client, server, left, &End::reply_seq, &End::seq), Match::difference);
    take_next(of_places(client, server, left), Match::position);
    joined.client_only = static_cast<std::int64_t>(left.client.size());
    joined.server_only = static_cast<std::int64_t>(left.server.size());
    std::ranges::sort(joined.pairs, {}, [&](const Pair& pair) { return client.ends[pair.client].from; });
    return joined;
}

}  // namespace stapgen::between
