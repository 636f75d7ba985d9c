// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/saturate.h"
#include "between/chains.h"
#include "between/clocks.h"
#include "between/join.h"
#include "between/result.h"
#include "between/sentences.h"
#include "table/histogram.h"

namespace stapgen::between {

namespace {

using table::Histogram;

constexpr double median = 50, tail_percent = 99;
constexpr std::size_t fewest_for_drift = 100, most_slowest = 10;

/// One request at both ends.
struct Joined {
    const End& client;
    const End& server;

    [[nodiscard]] std::int64_t away() const { return client.to - client.from; }
    /// A clock that is fast may say more.
    [[nodiscard]] std::int64_t served() const { return std::min(server.to - server.from, away()); }
    [[nodiscard]] std::int64_t between() const { return away() - served(); }
    [[nodiscard]] std::int64_t rest() const { return client.rest; }
    [[nodiscard]] std::int64_t read() const { return client.after - client.rest; }
    [[nodiscard]] std::int64_t at_client() const { return client.before + read(); }
    [[nodiscard]] std::int64_t total() const { return client.before + away() + client.after; }
};

/// A client's host and a server's.
class Hosts {
  public:
    /// Of all hosts, by their numbers.
    Hosts(std::vector<Host>& hosts, std::size_t client, std::size_t server)
        : client_(hosts[client]),
          server_(hosts[server]),
          client_number_(client),
          server_number_(server),
          asked_(client_.capture.ends.empty() ? client_.client : client_.capture),
          served_(server_.capture.ends.empty() ? server_.server : server_.capture) {}

    [[nodiscard]] bool may_be() const { return !asked_.ends.empty() && !served_.ends.empty() && &asked_ != &served_; }
    /// Whether any request was found.
    bool join() {
        join_ = between::join({asked_.ends, client_.connections},
                              {served_.ends, server_.connections, !server_.capture.ends.empty()});
        if (join_.pairs.size() <= static_cast<std::size_t>(join_.impossible)) return false;
        if (client_.capture.ends.empty() || server_.capture.ends.empty()) return true;
        // Of two captures the client's is that where replies take longer, whatever clocks drift.
        const auto longer = std::ranges::count_if(join_.pairs, [&](const Pair& pair) {
            const auto request = at(pair);
            return request.away() >= request.server.to - request.server.from;
        });
        return 2 * static_cast<std::size_t>(longer) > join_.pairs.size();
    }
    void add_to(Chains& chains) const { chains.add(client_number_, server_number_, join_); }
    Result result(const Chains& chains);
    void each(const Result& result, const Chains& chains, const EachRequest& each) const {
        for (const auto& pair : join_.pairs)
            each(result, request_of(pair, chains));
    }

  private:
    [[nodiscard]] Joined at(const Pair& pair) const { return {asked_.ends[pair.client], served_.ends[pair.server]}; }
    [[nodiscard]] Request request_of(const Pair& pair, const Chains& chains) const;
    [[nodiscard]] std::string seen_as() const;
    void put_parts(Result& result) const;
    void put_ways(Result& result);
    void put_clocks(Result& result);
    [[nodiscard]] std::vector<Point> hull_of(std::vector<Point> (*hull)(std::vector<Point>&),
                                             std::int64_t End::*when) const;
    void put_way(const char* name, std::int64_t (Hosts::*time_of)(const Joined&) const, Result& result) const;
    /// How long a direction took, or by two clocks how much longer than its fastest, exact to their drift.
    [[nodiscard]] std::int64_t forth(const Joined& request) const;
    [[nodiscard]] std::int64_t back(const Joined& request) const;
    void put_resent(const Side& side, const std::vector<Connection>& connections, std::uint32_t Pair::*end,
                    Way& way) const;
    void put_inside(const Side& side, const std::string& host, Result& result) const;

    Host& client_;
    Host& server_;
    std::size_t client_number_, server_number_;
    Side& asked_;
    Side& served_;
    Join join_{};
    std::optional<Clocks> clocks_{};
};

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

void Hosts::put_parts(Result& result) const {
    Mean totals;
    std::vector<std::int64_t> each;
    each.reserve(join_.pairs.size());
    for (const auto& pair : join_.pairs) {
        each.push_back(at(pair).total());
        totals.add(each.back());
    }
    // Exact: above a bin's middle there may be many.
    if (totals.n >= table::values_needed(tail_percent)) {
        const auto rank = each.begin() + table::nearest_rank(totals.n, tail_percent) - 1;
        std::ranges::nth_element(each, rank);
        result.threshold_ns = *rank;
    }
    const auto is_slow = [&](const Joined& request) {
        return result.threshold_ns && request.total() > *result.threshold_ns;
    };
    result.slow = std::ranges::count_if(join_.pairs, [&](const Pair& pair) { return is_slow(at(pair)); });
    const auto excess_of = [&](std::int64_t (Joined::*part)() const) {
        Mean slow, others;
        for (const auto& pair : join_.pairs) {
            const auto request = at(pair);
            (is_slow(request) ? slow : others).add((request.*part)());
        }
        return slow.n > 0 ? slow.value() - others.value() : 0;
    };
    const auto excess = excess_of(&Joined::total);
    const std::pair<const char*, std::int64_t (Joined::*)() const> all[]{{"client", &Joined::at_client},
                                                                         {"between", &Joined::between},
                                                                         {"server", &Joined::served},
                                                                         {"reply", &Joined::rest}};
    for (const auto& [where, time_of] : all) {
        if (where == std::string_view("client") && !result.knows_client) continue;
        Histogram values;
        for (const auto& pair : join_.pairs)
            values.add((at(pair).*time_of)());
        if (values.max() == 0) continue;
        Part part{.where = where, .share = values.sum() / totals.sum, .mean_ns = values.mean().value_or(0)};
        part.p50_ns = values.percentile(median);
        part.p99_ns = values.percentile(tail_percent);
        if (excess > 0) part.excess = excess_of(time_of) / excess;
        result.parts.push_back(std::move(part));
    }
}

/// Lines through times of other hosts may lead anywhere.
std::int64_t rounded(double ns) {
    constexpr auto most = static_cast<double>(end_of_time);
    return static_cast<std::int64_t>(std::clamp(ns, -most, most));
}

std::int64_t Hosts::forth(const Joined& request) const {
    const auto sent = request.client.from;
    return request.server.from - sent - (clocks_ ? rounded(clocks_->highest.value(sent)) : 0);
}

std::int64_t Hosts::back(const Joined& request) const {
    const auto came = request.client.to;
    return (clocks_ ? rounded(clocks_->lowest.value(came)) : 0) - (request.server.to - came);
}

void Hosts::put_way(const char* name, std::int64_t (Hosts::*time_of)(const Joined&) const, Result& result) const {
    Histogram values;
    for (const auto& pair : join_.pairs)
        values.add(std::max<std::int64_t>((this->*time_of)(at(pair)), 0));
    result.ways.push_back(
        {.way = name, .p50_ns = values.percentile(median), .p99_ns = values.percentile(tail_percent)});
}

void Hosts::put_ways(Result& result) {
    if (!result.one_clock) put_clocks(result);
    if (!result.one_clock && !clocks_) {
        result.ways = {{.way = "forth"}, {.way = "back"}};
        return;
    }
    put_way("forth", &Hosts::forth, result);
    put_way("back", &Hosts::back, result);
}

/// Of some requests at a time: what is on the hull of all is on that of these.
std::vector<Point> Hosts::hull_of(std::vector<Point> (*hull)(std::vector<Point>&), std::int64_t End::*when) const {
    std::size_t enough = 65536;
    std::vector<Point> points;
    for (const auto& pair : join_.pairs) {
        const auto& [client, server] = at(pair);
        points.push_back({client.*when, server.*when - client.*when});
        if (points.size() < enough) continue;
        points = hull(points);
        enough = std::max(enough, 2 * points.size());
    }
    return hull(points);
}

void Hosts::put_clocks(Result& result) {
    clocks_ = clocks_of(hull_of(&lower_hull, &End::from), hull_of(&upper_hull, &End::to));
    if (!clocks_) return;
    result.offset_ns = rounded(clocks_->offset());
    result.offset_error_ns = rounded(clocks_->error());
    result.fastest_ns = rounded(2 * clocks_->error());
    constexpr double million = 1e6;
    if (join_.pairs.size() >= fewest_for_drift) {
        result.drift_ppm = clocks_->drift * million;
        result.drift_error_ppm = clocks_->drift_error * million;
    }
}

/// Of requests that were found at both ends.
void Hosts::put_resent(const Side& side, const std::vector<Connection>& connections, std::uint32_t Pair::*end,
                       Way& way) const {
    std::multimap<std::uint32_t, std::uint32_t> segments;
    for (const auto& [connection, seq] : side.resent)
        segments.emplace(seq, connection);
    if (segments.empty()) return;
    const auto is_of = [&](std::uint32_t segment, const End& request) {
        if (request.connection == no_connection || segment == no_connection) return true;
        const auto &a = connections[segment], &b = connections[request.connection];
        return a.local == b.local && a.remote == b.remote;
    };
    for (const auto& pair : join_.pairs) {
        const auto& request = side.ends[pair.*end];
        const auto [begin, behind] = segments.equal_range(request.seq);
        const auto count =
            std::count_if(begin, behind, [&](const auto& segment) { return is_of(segment.second, request); });
        if (count > 0) ++way.resent;
        way.segments += count;
    }
}

void Hosts::put_inside(const Side& side, const std::string& host, Result& result) const {
    double sum = 0;
    for (const auto& step : side.steps)
        sum += static_cast<double>(step.sum_ns);
    const auto begin = static_cast<std::ptrdiff_t>(result.inside.size());
    for (const auto& step : side.steps) {
        if (step.sum_ns == 0) continue;
        const auto step_sum = static_cast<double>(step.sum_ns);
        result.inside.push_back({.host = host,
                                 .stage = step.stage,
                                 .n = step.n,
                                 .share = step_sum / sum,
                                 .mean_ns = step_sum / static_cast<double>(step.n)});
    }
    std::stable_sort(result.inside.begin() + begin, result.inside.end(),
                     [](const Inside& a, const Inside& b) { return a.share > b.share; });
}

/// "10.9.0.1 asks 10.9.0.2:5432"; with NAT the server's view, too. Empty: no request says.
std::string Hosts::seen_as() const {
    const auto without_port = [](const std::string& text) { return text.substr(0, text.rfind(':')); };
    const auto found = std::ranges::find_if(join_.pairs, [&](const Pair& pair) {
        return at(pair).client.connection != no_connection && at(pair).server.connection != no_connection;
    });
    if (found == join_.pairs.end()) return {};
    const auto& here = client_.connections[at(*found).client.connection];
    auto there = server_.connections[at(*found).server.connection];
    if (!server_.capture.ends.empty()) std::swap(there.local, there.remote);  // a capture has the client first
    auto text = fmt::format("{} asks {}", without_port(here.local), here.remote);
    if (here.local != there.remote || here.remote != there.local)
        text += fmt::format("; to the server it is {} that asks {}", without_port(there.remote), there.local);
    return text;
}

Request Hosts::request_of(const Pair& pair, const Chains& chains) const {
    const auto joined = at(pair);
    const auto& [client, server] = joined;
    Request request{.start_ns = client.from - client.before,
                    .seq = client.seq,
                    .reply_seq = client.reply_seq,
                    .match = std::string(match_text(pair.match)),
                    .total_ns = joined.total(),
                    .between_ns = joined.between(),
                    .server_ns = joined.served(),
                    .reply_ns = joined.rest()};
    if (client.connection != no_connection) {
        request.client = client_.connections[client.connection].local;
        request.server = client_.connections[client.connection].remote;
    }
    if (client_.capture.ends.empty()) {
        request.ask_ns = client.before;
        request.read_ns = joined.read();
    }
    if (clocks_ || &client_ == &server_) {
        const auto all = joined.between();
        const auto offset =
            clocks_ ? rounded((clocks_->highest.value(client.from) + clocks_->lowest.value(client.from)) / 2) : 0;
        request.forth_ns = std::clamp<std::int64_t>(server.from - client.from - offset, 0, all);
        request.back_ns = all - *request.forth_ns;
        // What the clocks drift in a long request is in the fastest, as far as that has room.
        request.forth_excess_ns = std::clamp<std::int64_t>(forth(joined), 0, all);
        request.back_excess_ns = std::clamp<std::int64_t>(back(joined), 0, all - *request.forth_excess_ns);
        if (clocks_) request.fastest_ns = all - *request.forth_excess_ns - *request.back_excess_ns;
    }
    if (client_.capture.ends.empty()) request.asked_flow = chains.flow_of_question(client_number_, pair.client);
    if (server_.capture.ends.empty()) chains.divide(server_number_, pair.server, request);
    return request;
}

Result Hosts::result(const Chains& chains) {
    Result result{.client = client_.name, .server = server_.name};
    const auto& pairs = join_.pairs;
    result.seen_as = seen_as();
    result.requests = static_cast<std::int64_t>(pairs.size());
    result.by_difference = std::ranges::count(pairs, Match::difference, &Pair::match);
    result.by_position = std::ranges::count(pairs, Match::position, &Pair::match);
    result.client_only = join_.client_only;
    result.server_only = join_.server_only;
    result.ambiguous = join_.ambiguous;
    result.impossible = join_.impossible;
    const auto &first = at(pairs.front()).client, &last = at(pairs.back()).client;
    result.start_ns = first.from - first.before;
    result.duration_ns = last.to + last.after - result.start_ns;
    if (client_.name == server_.name) {
        result.client += " (client)";
        result.server += " (server)";
    }
    result.one_clock = &client_ == &server_;
    result.knows_client = client_.capture.ends.empty();
    put_parts(result);
    put_ways(result);
    put_resent(asked_, client_.connections, &Pair::client, result.ways.front());
    put_resent(served_, server_.connections, &Pair::server, result.ways.back());
    put_inside(asked_, result.client, result);
    put_inside(served_, result.server, result);
    if (server_.capture.ends.empty())
        chains.put_behind(
            server_number_, pairs, [&](const Pair& pair) { return at(pair).served(); }, result);
    std::vector<Pair> slowest(std::min(pairs.size(), most_slowest));
    std::ranges::partial_sort_copy(
        pairs, slowest, std::ranges::greater(), [&](const Pair& pair) { return at(pair).total(); },
        [&](const Pair& pair) { return at(pair).total(); });
    for (const auto& pair : slowest) {
        auto& request = result.slowest.emplace_back(request_of(pair, chains));
        if (request.rest_ns) request.chain = chains.links(server_number_, pair.server);
    }
    for (const auto* host : {&client_, &server_}) {
        if (host == &server_ && &client_ == &server_) break;
        for (const auto& [cause, count] : host->not_measured)
            result.not_measured.push_back({host == &client_ ? result.client : result.server, cause, count});
    }
    return result;
}

}  // namespace

Placed placed(const Request& request, const Result& result) {
    const auto forth = request.forth_ns.value_or(request.between_ns / 2), back = request.between_ns - forth;
    const auto error = request.forth_ns ? result.offset_error_ns.value_or(0) : request.between_ns;
    return {forth, back, std::min(forth, error), std::min(back, error)};
}

Answer between(std::vector<Host>& hosts, const EachRequest& each) {
    Answer answer;
    for (auto& host : hosts)
        for (auto* side : {&host.client, &host.server, &host.capture})
            sort_ends(side->ends);
    std::vector<Hosts> pairs;
    for (std::size_t client = 0; client < hosts.size(); ++client) {
        bool is_found = false;
        for (std::size_t server = 0; server < hosts.size(); ++server) {
            Hosts both(hosts, client, server);
            if (!both.may_be() || !both.join()) continue;
            is_found = true;
            pairs.push_back(std::move(both));
        }
        // A capture may be a server's, and is looked for at its clients.
        if (!is_found && !hosts[client].client.ends.empty())
            answer.missing.push_back(not_found_text(hosts, hosts[client]));
    }
    Chains chains(hosts);
    for (const auto& both : pairs)
        both.add_to(chains);
    for (auto& both : pairs) {
        answer.results.push_back(both.result(chains));
        if (each) both.each(answer.results.back(), chains, each);
    }
    std::ranges::stable_sort(answer.results, std::ranges::greater(), &Result::requests);
    return answer;
}

}  // namespace stapgen::between
