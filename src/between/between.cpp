// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "between/clocks.h"
#include "between/join.h"
#include "between/result.h"
#include "table/histogram.h"

namespace stapgen::between {

namespace {

using table::Histogram;

constexpr double median = 50, tail_percent = 99;
constexpr std::size_t fewest_for_drift = 100;

std::int64_t away(const Pair& pair) {
    return pair.client->to - pair.client->from;
}
std::int64_t served(const Pair& pair) {
    return pair.server->to - pair.server->from;
}
std::int64_t at_client(const Pair& pair) {
    return pair.client->before + pair.client->after - pair.client->rest;
}
std::int64_t rest(const Pair& pair) {
    return pair.client->rest;
}
std::int64_t total(const Pair& pair) {
    return pair.client->before + away(pair) + pair.client->after;
}
std::int64_t between_hosts(const Pair& pair) {
    return away(pair) - served(pair);
}

/// The mean of some requests.
struct Mean {
    double sum = 0;
    std::int64_t n = 0;
    void add(std::int64_t value) {
        sum += static_cast<double>(value);
        ++n;
    }
    [[nodiscard]] double value() const { return n > 0 ? sum / static_cast<double>(n) : 0; }
};

void put_parts(const std::vector<Pair>& pairs, Result& result) {
    Histogram totals;
    std::vector<std::int64_t> each;
    for (const auto& pair : pairs) {
        totals.add(total(pair));
        each.push_back(total(pair));
    }
    // Exact: above a bin's middle there may be many.
    if (totals.n() >= table::values_needed(tail_percent)) {
        const auto at = each.begin() + table::nearest_rank(totals.n(), tail_percent) - 1;
        std::ranges::nth_element(each, at);
        result.threshold_ns = *at;
    }
    const auto is_slow = [&](const Pair& pair) { return result.threshold_ns && total(pair) > *result.threshold_ns; };
    result.slow = std::ranges::count_if(pairs, is_slow);
    const auto excess_of = [&](std::int64_t (*part)(const Pair&)) {
        Mean slow, others;
        for (const auto& pair : pairs)
            (is_slow(pair) ? slow : others).add(part(pair));
        return slow.n > 0 ? slow.value() - others.value() : 0;
    };
    const auto excess = excess_of(total);
    const std::pair<const char*, std::int64_t (*)(const Pair&)> all[]{
        {"client", at_client}, {"between", between_hosts}, {"server", served}, {"reply", rest}};
    for (const auto& [where, time_of] : all) {
        if (where == std::string_view("client") && !result.knows_client) continue;
        Histogram values;
        for (const auto& pair : pairs)
            values.add(time_of(pair));
        if (values.max() == 0) continue;
        Part part{.where = where, .share = values.sum() / totals.sum(), .mean_ns = values.mean().value_or(0)};
        part.p50_ns = values.percentile(median);
        part.p99_ns = values.percentile(tail_percent);
        if (excess > 0) part.excess = excess_of(time_of) / excess;
        result.parts.push_back(std::move(part));
    }
}

/// How long a direction took, or how much longer than its fastest.
void put_way(const char* name, const std::vector<Pair>& pairs, const auto& time_of, Result& result) {
    Histogram values;
    for (const auto& pair : pairs)
        values.add(std::max<std::int64_t>(time_of(pair), 0));
    result.ways.push_back(
        {.way = name, .p50_ns = values.percentile(median), .p99_ns = values.percentile(tail_percent)});
}

void put_ways(const std::vector<Pair>& pairs, Result& result) {
    if (result.one_clock) {
        put_way(
            "forth", pairs, [](const Pair& pair) { return pair.server->from - pair.client->from; }, result);
        put_way(
            "back", pairs, [](const Pair& pair) { return pair.client->to - pair.server->to; }, result);
        return;
    }
    std::vector<Point> forth, back;
    for (const auto& [client, server] : pairs) {
        forth.push_back({client->from, server->from - client->from});
        back.push_back({client->to, server->to - client->to});
    }
    const auto clocks = clocks_of(std::move(forth), std::move(back));
    if (!clocks) return;
    result.offset_ns = static_cast<std::int64_t>(clocks->offset());
    result.offset_error_ns = static_cast<std::int64_t>(clocks->error());
    result.fastest_ns = static_cast<std::int64_t>(2 * clocks->error());
    constexpr double million = 1e6;
    if (clocks->is_drift_known && pairs.size() >= fewest_for_drift) result.drift_ppm = clocks->drift * million;
    const auto rounded = [](double ns) { return static_cast<std::int64_t>(ns); };
    put_way(
        "forth", pairs,
        [&](const Pair& pair) {
            const auto at = pair.client->from;
            return pair.server->from - at - rounded(clocks->highest.value(at));
        },
        result);
    put_way(
        "back", pairs,
        [&](const Pair& pair) {
            const auto at = pair.client->to;
            return rounded(clocks->lowest.value(at)) - (pair.server->to - at);
        },
        result);
}

/// Of requests that were found at both ends.
void put_resent(const std::vector<Pair>& pairs, const std::vector<Resent>& resent, const End* Pair::*end, Way& way) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> segments;
    for (const auto& [connection, seq] : resent)
        ++segments[{connection, seq}];
    if (segments.empty()) return;
    for (const auto& pair : pairs) {
        const auto found = segments.find({(pair.*end)->connection, (pair.*end)->seq});
        if (found == segments.end()) continue;
        ++way.resent;
        way.segments += found->second;
    }
}

/// "10.9.0.1 asks 10.9.0.2:5432"; with NAT the server's view, too.
std::string seen_as(const Host& client, const Host& server, const Pair& pair) {
    const auto without_port = [](const std::string& text) { return text.substr(0, text.rfind(':')); };
    const auto& here = client.connections[pair.client->connection];
    auto there = server.connections[pair.server->connection];
    if (!server.capture.ends.empty()) std::swap(there.local, there.remote);  // a capture has the client first
    auto text = fmt::format("{} asks {}", without_port(here.local), here.remote);
    if (here.local != there.remote || here.remote != there.local)
        text += fmt::format("; to the server it is {} that asks {}", without_port(there.remote), there.local);
    return text;
}

std::string not_found_text(const Host& client, std::size_t hosts) {
    const auto requests = fmt::format("of {}'s {} requests none is in ", client.name,
                                      client.client.ends.size() + client.capture.ends.size());
    if (hosts == 1) return requests + "it as its server has it: give the server's recording, too";
    return requests +
           "another recording: does a proxy end the connections? It is a client and a server: record it, too";
}

}  // namespace

Answer between(std::vector<Host>& hosts) {
    Answer answer;
    for (auto& client : hosts) {
        auto& asked = client.capture.ends.empty() ? client.client : client.capture;
        if (asked.ends.empty()) continue;
        bool is_found = false;
        for (auto& server : hosts) {
            auto& served = server.capture.ends.empty() ? server.server : server.capture;
            if (served.ends.empty() || &asked == &served) continue;
            auto joined = join(asked.ends, served.ends);
            // Of two captures the client's is that where replies take longer.
            if (joined.pairs.size() <= static_cast<std::size_t>(joined.impossible)) continue;
            is_found = true;
            const auto& pairs = joined.pairs;
            Result result{.client = client.name, .server = server.name};
            result.seen_as = seen_as(client, server, pairs.front());
            result.requests = static_cast<std::int64_t>(pairs.size());
            result.client_only = joined.client_only;
            result.server_only = joined.server_only;
            result.ambiguous = joined.ambiguous;
            result.impossible = joined.impossible;
            result.start_ns = pairs.front().client->from - pairs.front().client->before;
            result.duration_ns = pairs.back().client->to + pairs.back().client->after - result.start_ns;
            if (client.name == server.name) {
                result.client += " (client)";
                result.server += " (server)";
            }
            result.one_clock = &client == &server;
            result.knows_client = client.capture.ends.empty();
            put_parts(pairs, result);
            put_ways(pairs, result);
            if (result.ways.empty()) result.ways = {{.way = "forth"}, {.way = "back"}};
            put_resent(pairs, asked.resent, &Pair::client, result.ways.front());
            put_resent(pairs, served.resent, &Pair::server, result.ways.back());
            answer.results.push_back(std::move(result));
        }
        // A capture may be a server's, and is looked for at its clients.
        if (!is_found && client.capture.ends.empty()) answer.missing.push_back(not_found_text(client, hosts.size()));
    }
    std::ranges::stable_sort(answer.results, std::ranges::greater(), &Result::requests);
    return answer;
}

}  // namespace stapgen::between
