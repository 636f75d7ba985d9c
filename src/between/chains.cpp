// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/chains.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/saturate.h"

namespace stapgen::between {

void Union::add(const Chains::Question& question) {
    const auto from = std::max(question.asked, until_);
    if (question.returned <= from) return;
    ns_ += question.returned - from;
    until_ = question.returned;
}

Chains::Chains(const std::vector<Host>& hosts) : hosts_(hosts), middles_(hosts.size()) {
    for (std::size_t i = 0; i < hosts.size(); ++i)
        place(hosts[i], middles_[i]);
}

void Chains::place(const Host& host, Middle& middle) const {
    // A client that is no server asks for itself.
    if (!host.says_for || host.server.ends.empty()) return;
    std::int64_t handed = 0, of_none = 0, outside = 0, ambiguous = 0;
    const auto &asked = host.client.ends, &served = host.server.ends;
    constexpr std::size_t most_equal = 64;  // more requests with one number than any recording has
    for (const auto& question : host.asked) {
        if (host.handing.contains(question.process) || host.handing.size() == most_processes) {
            ++handed;
            continue;
        }
        const auto at = std::ranges::lower_bound(asked, std::pair(question.key(), question.from), {},
                                                 [](const End& end) { return std::pair(end.key(), end.from); });
        if (at == asked.end() || at->key() != question.key()) continue;
        const auto began = at->from - at->before, ended = at->to + at->after;
        Question placed{.end = static_cast<std::uint32_t>(at - asked.begin())};
        std::int64_t here = 0, found = 0;
        const auto candidates = std::ranges::equal_range(served, question.for_seq, {}, &End::seq);
        if (candidates.size() > most_equal) {
            ++ambiguous;
            continue;
        }
        for (const auto& request : candidates) {
            if (request.connection == no_connection ||
                host.connections[request.connection].reply_first != question.for_stream)
                continue;
            ++here;
            if (began > request.to || ended < request.from) continue;
            ++found;
            placed.request = static_cast<std::uint32_t>(&request - served.data());
            placed.asked = std::max(began, request.from);
            placed.returned = std::min(ended, request.to);
        }
        if (found == 1) {
            middle.questions.push_back(placed);
        } else {
            ++(found > 1 ? ambiguous : here > 0 ? outside : of_none);
        }
    }
    std::ranges::sort(middle.questions, {},
                      [](const Question& one) { return std::tuple(one.request, one.asked, one.returned); });
    for (std::uint32_t i = 0; i < middle.questions.size(); ++i)
        middle.by_end.emplace_back(middle.questions[i].end, i);
    std::ranges::sort(middle.by_end);
    const auto say = [&](std::int64_t count, const char* cause) {
        if (count > 0) middle.not_placed.push_back({host.name, cause, count});
    };
    say(static_cast<std::int64_t>(asked.size() - std::min(asked.size(), host.asked.size())),
        "for no request that is known");
    say(handed, "in programs that hand requests from thread to thread");
    say(of_none, "for requests that are not in the recording");
    say(outside, "not in the time of their requests");
    say(ambiguous, "for one of several requests");
}

const Chains::Question* Chains::question_at(const Middle& middle, std::uint32_t end) {
    const auto found =
        std::ranges::lower_bound(middle.by_end, end, {}, &std::pair<std::uint32_t, std::uint32_t>::first);
    return found != middle.by_end.end() && found->first == end ? &middle.questions[found->second] : nullptr;
}

void Chains::add(std::size_t client, std::size_t server, const Join& join) {
    if (hosts_[server].capture.ends.empty() && has(server))
        for (const auto& pair : join.pairs)
            for (auto& question :
                 std::ranges::equal_range(middles_[server].questions, pair.server, {}, &Question::request))
                question.is_of_joined = true;
    if (!hosts_[client].capture.ends.empty() || !has(client)) return;
    auto& middle = middles_[client];
    const auto& there = hosts_[server].capture.ends.empty() ? hosts_[server].server : hosts_[server].capture;
    for (const auto& pair : join.pairs) {
        const auto* found = question_at(middle, pair.client);
        if (found == nullptr || found->server != no_host) continue;
        auto* question = &middle.questions[static_cast<std::size_t>(found - middle.questions.data())];
        const auto &asked = hosts_[client].client.ends[pair.client], &served = there.ends[pair.server];
        question->server = static_cast<std::uint32_t>(server);
        question->there = pair.server;
        question->served = std::min(served.to - served.from, asked.to - asked.from);
        question->between = asked.to - asked.from - question->served;
    }
}

std::span<const Chains::Question> Chains::of(std::size_t host, std::uint32_t request) const {
    const auto [begin, end] = std::ranges::equal_range(middles_[host].questions, request, {}, &Question::request);
    return {begin, end};
}

std::string Chains::server_of(std::size_t host, const Question& question) const {
    if (question.server != no_host) return hosts_[question.server].name;
    const auto connection = hosts_[host].client.ends[question.end].connection;
    return connection == no_connection ? "a server" : hosts_[host].connections[connection].remote;
}

struct Chains::Group {
    ChainLink link{};
    std::size_t host = 0;  ///< its server
    std::vector<std::uint32_t> requests{};
};

// NOLINTNEXTLINE(misc-no-recursion): most_depth bounds it
void Chains::follow(std::size_t host, const std::vector<std::uint32_t>& requests, std::int64_t depth, Done& done,
                    std::vector<ChainLink>& links) const {
    std::map<std::string, Group> by_server;
    for (const auto request : requests) {
        // Hosts may say that each asks the other.
        if (!done.emplace(host, request).second) continue;
        std::map<std::string, Union> waiting;
        for (const auto& question : of(host, request)) {
            const auto server = server_of(host, question);
            auto& group = by_server[server];
            group.link.server = server;
            ++group.link.questions;
            waiting[server].add(question);
            if (question.server == no_host) continue;
            ++group.link.joined;
            base::add_saturating(group.link.served_ns, question.served);
            base::add_saturating(group.link.between_ns, question.between);
            group.host = question.server;
            group.requests.push_back(question.there);
        }
        for (const auto& [server, time] : waiting)
            base::add_saturating(by_server[server].link.waiting_ns, time.ns());
    }
    std::vector<Group> groups;
    for (auto& [server, group] : by_server)
        groups.push_back(std::move(group));
    std::ranges::stable_sort(groups, std::ranges::greater(), [](const Group& group) { return group.link.waiting_ns; });
    for (auto& [link, server, there] : groups) {
        if (links.size() == most_links) return;
        link.depth = depth;
        link.host = hosts_[host].name;
        links.push_back(std::move(link));
        if (depth < most_depth && !there.empty()) follow(server, there, depth + 1, done, links);
    }
}

std::vector<ChainLink> Chains::links(std::size_t host, std::uint32_t request) const {
    std::vector<ChainLink> links;
    Done done;
    follow(host, {request}, 1, done, links);
    return links;
}

void Chains::put_behind(std::size_t host, std::span<const Pair> pairs,
                        const std::function<std::int64_t(const Pair&)>& served, Result& result) const {
    result.not_placed = middles_[host].not_placed;
    for (auto& row : result.not_placed)
        row.host = result.server;
    if (!has(host)) return;
    struct Sums {
        Behind row{};
        double waiting = 0, between = 0, served = 0;
    };
    std::map<std::string, Sums> servers;
    std::int64_t behind = 0, rest = 0;
    for (const auto& pair : pairs) {
        std::map<std::string, Union> waiting;
        Union all;
        for (const auto& question : of(host, pair.server)) {
            const auto server = server_of(host, question);
            auto& sums = servers[server];
            ++sums.row.questions;
            all.add(question);
            waiting[server].add(question);
            if (question.server == no_host) continue;
            ++sums.row.joined;
            sums.between += static_cast<double>(question.between);
            sums.served += static_cast<double>(question.served);
        }
        for (const auto& [server, time] : waiting) {
            ++servers[server].row.requests;
            servers[server].waiting += static_cast<double>(time.ns());
        }
        const auto whole = served(pair), asked = std::min(all.ns(), whole);
        base::add_saturating(behind, asked);
        base::add_saturating(rest, whole - asked);
    }
    result.behind_ns = behind;
    result.rest_ns = rest;
    const auto whole = static_cast<double>(behind) + static_cast<double>(rest);
    const auto per = [](double sum, std::int64_t n) { return n > 0 ? sum / static_cast<double>(n) : 0; };
    for (auto& [server, sums] : servers) {
        sums.row.server = server;
        sums.row.share = whole > 0 ? std::min(sums.waiting / whole, 1.0) : 0;
        sums.row.mean_ns = per(sums.waiting, sums.row.requests);
        sums.row.between_ns = per(sums.between, sums.row.joined);
        sums.row.served_ns = per(sums.served, sums.row.joined);
        result.behind.push_back(std::move(sums.row));
    }
    std::ranges::stable_sort(result.behind, std::ranges::greater(), &Behind::share);
}

void Chains::divide(std::size_t host, std::uint32_t number, Request& request) const {
    if (!has(host)) return;
    Union all;
    for (const auto& question : of(host, number))
        all.add(question);
    request.behind_ns = std::min(all.ns(), request.server_ns);
    request.rest_ns = request.server_ns - *request.behind_ns;
    request.flow = flow_of_request(host, number);
}

std::uint64_t Chains::flow_of_request(std::size_t host, std::uint32_t request) const {
    constexpr auto of_chain = std::uint64_t{1} << 63U;
    return std::ranges::any_of(of(host, request), &Question::is_drawn) ? of_chain | std::uint64_t{host} << 32U | request
                                                                       : 0;
}

std::uint64_t Chains::flow_of_question(std::size_t host, std::uint32_t end) const {
    const auto* question = question_at(middles_[host], end);
    return question != nullptr && question->is_drawn() ? flow_of_request(host, question->request) : 0;
}

}  // namespace stapgen::between
