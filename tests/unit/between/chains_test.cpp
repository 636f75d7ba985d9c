// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "between/result.h"
#include "between/sentences.h"

using namespace stapgen::between;

namespace {

constexpr std::int64_t ahead = 100'000'000'000;
constexpr std::int64_t a_second = 1'000'000'000;

/// Hosts that ask each other. Each has a connection to itself from each of the others.
struct Hosts {
    std::vector<Host> hosts;
    std::uint32_t next_seq = 1'000'003;

    explicit Hosts(std::initializer_list<const char*> names) {
        for (const auto* name : names) {
            auto& host = hosts.emplace_back(Host{.name = name, .file = name});
            host.says_for = true;
            // As a server, of which it says what it sends back on it; as a client.
            host.connections = {{"10.9.0.2:7301", "10.9.0.1:40000", 17, stream_of(hosts.size() - 1)},
                                {"10.9.1.1:40000", "10.9.1.2:7302", 19, 23}};
        }
    }
    static std::uint32_t stream_of(std::size_t host) { return 4'000'000'000U + static_cast<std::uint32_t>(host); }

    struct Request {
        std::uint32_t seq = 0, reply_seq = 0;
        std::size_t server = 0;
    };
    struct For {
        std::uint32_t seq, stream;
        explicit For(std::uint32_t of = 0, std::uint32_t on = 0) : seq(of), stream(on) {}
    };
    static For for_(const Request& request) { return For(request.seq, stream_of(request.server)); }

    /// A client asks at a time, for a request or none; the server has it for so long, 31 us later.
    Request ask(std::size_t client, std::size_t server, std::int64_t at, std::int64_t served, For of = For(),
                std::int64_t process = 7) {
        const Request request{next_seq, next_seq + 11, server};
        next_seq += 13;
        const auto began = at + static_cast<std::int64_t>(client) * ahead;
        const auto came = at + 11'000 + 31'000 + static_cast<std::int64_t>(server) * ahead;
        hosts[client].client.ends.push_back({.seq = request.seq,
                                             .reply_seq = request.reply_seq,
                                             .connection = 1,
                                             .from = began + 11'000,
                                             .to = began + 11'000 + 31'000 + served + 37'000,
                                             .before = 11'000,
                                             .after = 13'000});
        hosts[server].server.ends.push_back(
            {.seq = request.seq, .reply_seq = request.reply_seq, .connection = 0, .from = came, .to = came + served});
        if (of.seq != 0) {
            hosts[client].asked.push_back({request.seq, request.reply_seq, began + 11'000, of.seq, of.stream, process});
        }
        return request;
    }
    /// How long a question takes whose server has it for so long.
    static std::int64_t took(std::int64_t served) { return 11'000 + 31'000 + served + 37'000 + 13'000; }

    Answer answer() const {
        auto copy = hosts;
        return stapgen::between::between(copy);
    }
    Result result(const std::string& client, const std::string& server) const {
        const auto all = answer().results;
        const auto found = std::ranges::find_if(
            all, [&](const Result& result) { return result.client == client && result.server == server; });
        REQUIRE(found != all.end());
        return *found;
    }
};

std::string all_of(const std::vector<NotMeasured>& rows) {
    std::string text;
    for (const auto& [host, cause, count] : rows)
        text += fmt::format("{}: {} {}\n", host, count, cause);
    return text;
}

}  // namespace

TEST_CASE("what a server takes is what it asks, one after the other, and the rest") {
    Hosts hosts{"app1", "web1", "db1"};
    constexpr std::int64_t served = 3'000'017;
    for (int i = 0; i < 101; ++i) {
        const auto at = a_second + std::int64_t{i} * 100'000'000;
        const auto request = hosts.ask(0, 1, at, served);
        hosts.ask(1, 2, at + 100'000, 500'009, Hosts::for_(request));
        hosts.ask(1, 2, at + 1'000'000, 1'100'003, Hosts::for_(request));
    }
    const auto result = hosts.result("app1", "web1");
    const auto behind = Hosts::took(500'009) + Hosts::took(1'100'003);
    REQUIRE(result.behind_ns);
    CHECK(*result.behind_ns == 101 * behind);
    CHECK(*result.behind_ns + *result.rest_ns == 101 * served);
    REQUIRE(result.behind.size() == 1);
    const auto& row = result.behind.front();
    CHECK(row.server == "db1");
    CHECK(row.requests == 101);
    CHECK(row.questions == 202);
    CHECK(row.joined == 202);
    CHECK(row.served_ns == (500'009 + 1'100'003) / 2.0);
    CHECK(row.between_ns == 68'000);
    CHECK(row.mean_ns == static_cast<double>(behind));
    CHECK(result.not_placed.empty());
    for (const auto& request : result.slowest) {
        CHECK(*request.behind_ns == behind);
        CHECK(*request.behind_ns + *request.rest_ns == request.server_ns);
        CHECK(request.flow != 0);
    }
    CHECK(chain_text(result.slowest.front(), result) ==
          "app1 asks web1: 3.09 ms; in that web1 asked db1 twice: 1.78 ms (1.60 ms at db1, 136 us between)");
    CHECK(behind_text(result) ==
          "web1 asked db1 2.0 times for each of 101 requests: 1.78 ms (1.60 ms at db1, 136 us between); the rest of "
          "its 3.00 ms is 1.22 ms, on average");
    // What asks for itself alone has nothing behind it.
    const auto last = hosts.result("web1", "db1");
    CHECK(!last.behind_ns);
    CHECK(last.not_placed.empty());
    CHECK(behind_text(last).empty());
    CHECK(last.slowest.front().flow == 0);
    CHECK(last.slowest.front().asked_flow != 0);
}

TEST_CASE("questions at once take as long as any of them does") {
    Hosts hosts{"app1", "web1", "db1", "log1"};
    const auto request = hosts.ask(0, 1, a_second, 5'000'011);
    hosts.ask(1, 2, a_second + 100'000, 1'000'000, Hosts::for_(request));
    hosts.ask(1, 2, a_second + 300'000, 500'000, Hosts::for_(request));    // inside of the first
    hosts.ask(1, 3, a_second + 700'000, 1'000'000, Hosts::for_(request));  // begins before the first one's end
    const auto result = hosts.result("app1", "web1");
    CHECK(*result.behind_ns == 600'000 + Hosts::took(1'000'000));
    CHECK(*result.behind_ns + *result.rest_ns == 5'000'011);
    REQUIRE(result.behind.size() == 2);
    CHECK(result.behind[0].mean_ns == static_cast<double>(Hosts::took(1'000'000)));
    REQUIRE(result.slowest.front().chain.size() == 2);
    const auto& chain = result.slowest.front().chain;
    CHECK(chain[0].waiting_ns + chain[1].waiting_ns > *result.behind_ns);
}

TEST_CASE("what goes on when the request has its reply is not the request's") {
    Hosts hosts{"app1", "web1", "db1"};
    const auto request = hosts.ask(0, 1, a_second, 1'000'003);
    hosts.ask(1, 2, a_second + 900'000, 7'000'000, Hosts::for_(request));
    const auto result = hosts.result("app1", "web1");
    // It came 42 us after it was sent.
    CHECK(*result.behind_ns == 1'000'003 - (900'000 - 42'000));
    CHECK(*result.behind_ns + *result.rest_ns == 1'000'003);
}

TEST_CASE("a question whose server's recording has none of it is said by its address") {
    Hosts hosts{"app1", "web1", "db1"};
    const auto request = hosts.ask(0, 1, a_second, 5'000'011);
    hosts.ask(1, 2, a_second + 100'000, 1'000'000, Hosts::for_(request));
    hosts.hosts[2].server.ends.clear();
    const auto result = hosts.result("app1", "web1");
    REQUIRE(result.behind.size() == 1);
    CHECK(result.behind.front().server == "10.9.1.2:7302");
    CHECK(result.behind.front().joined == 0);
    CHECK(*result.behind_ns == Hosts::took(1'000'000));
    // An arrow has two ends.
    CHECK(result.slowest.front().flow == 0);
    CHECK(chain_text(result.slowest.front(), result) ==
          "app1 asks web1: 5.09 ms; in that web1 asked 10.9.1.2:7302 once: 1.09 ms (in no recording of its server)");
}

TEST_CASE("a question for a request that no client's recording has is drawn without an arrow") {
    Hosts hosts{"app1", "web1", "db1"};
    const auto request = hosts.ask(0, 1, a_second, 5'000'011);
    hosts.ask(1, 2, a_second + 100'000, 1'000'000, Hosts::for_(request));
    CHECK(hosts.result("web1", "db1").slowest.front().asked_flow == hosts.result("app1", "web1").slowest.front().flow);
    hosts.hosts[0].client.ends.clear();
    CHECK(hosts.result("web1", "db1").slowest.front().asked_flow == 0);
}

TEST_CASE("a question that may be of another request is placed nowhere, and counted by its reason") {
    Hosts hosts{"app1", "web1", "db1"};
    const auto request = hosts.ask(0, 1, a_second, 5'000'011);
    const auto good = Hosts::for_(request);
    SUBCASE("none that is known") {
        hosts.ask(1, 2, a_second + 100'000, 1'000'000);
        CHECK(all_of(hosts.result("app1", "web1").not_placed) == "web1: 1 for no request that is known\n");
    }
    SUBCASE("a number that no request has") {
        hosts.ask(1, 2, a_second + 100'000, 1'000'000, Hosts::For(good.seq + 1, good.stream));
        CHECK(all_of(hosts.result("app1", "web1").not_placed) ==
              "web1: 1 for requests that are not in the recording\n");
    }
    SUBCASE("on another connection") {
        hosts.ask(1, 2, a_second + 100'000, 1'000'000, Hosts::For(good.seq, good.stream + 1));
        CHECK(all_of(hosts.result("app1", "web1").not_placed) ==
              "web1: 1 for requests that are not in the recording\n");
    }
    SUBCASE("before it came") {
        hosts.ask(1, 2, a_second - 7'000'000, 1'000'000, good);
        CHECK(all_of(hosts.result("app1", "web1").not_placed) == "web1: 1 not in the time of their requests\n");
    }
    SUBCASE("behind its reply") {
        hosts.ask(1, 2, a_second + 7'000'000, 1'000'000, good);
        CHECK(all_of(hosts.result("app1", "web1").not_placed) == "web1: 1 not in the time of their requests\n");
    }
    SUBCASE("two requests have its numbers at that time") {
        auto& ends = hosts.hosts[1].server.ends;
        ends.push_back(ends.front());
        ends.back().reply_seq += 1;
        hosts.ask(1, 2, a_second + 100'000, 1'000'000, good);
        CHECK(all_of(hosts.result("app1", "web1").not_placed) == "web1: 1 for one of several requests\n");
    }
    SUBCASE("a program that hands requests from thread to thread") {
        hosts.ask(1, 2, a_second + 100'000, 1'000'000, good);
        hosts.hosts[1].handing.insert(7);
        const auto result = hosts.result("app1", "web1");
        CHECK(all_of(result.not_placed) == "web1: 1 in programs that hand requests from thread to thread\n");
        CHECK(not_placed_text(result) == "questions of web1: 1 in programs that hand requests from thread to thread");
    }
    const auto result = hosts.result("app1", "web1");
    CHECK(!result.behind_ns);
    CHECK(!result.slowest.front().rest_ns);
    CHECK(result.slowest.front().chain.empty());
}

TEST_CASE("another program of that host is believed") {
    Hosts hosts{"app1", "web1", "db1"};
    const auto request = hosts.ask(0, 1, a_second, 5'000'011);
    hosts.ask(1, 2, a_second + 100'000, 1'000'000, Hosts::for_(request), 9);
    hosts.hosts[1].handing.insert(7);
    CHECK(hosts.result("app1", "web1").behind_ns);
}

TEST_CASE("a number that comes again 4 GiB later is of the request of that time") {
    Hosts hosts{"app1", "web1", "db1"};
    const auto request = hosts.ask(0, 1, a_second, 5'000'011);
    hosts.next_seq = request.seq;
    const auto again = hosts.ask(0, 1, 7 * a_second, 5'000'011);
    REQUIRE(again.seq == request.seq);
    hosts.ask(1, 2, 7 * a_second + 100'000, 1'000'000, Hosts::for_(request));
    const auto result = hosts.result("app1", "web1");
    CHECK(result.not_placed.empty());
    CHECK(*result.behind_ns == Hosts::took(1'000'000));
    CHECK(*result.behind_ns + *result.rest_ns == 2 * 5'000'011);
}

TEST_CASE("a chain goes on from server to server, and no longer than is looked at") {
    Hosts hosts{"h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9", "h10"};
    auto request = hosts.ask(0, 1, a_second, 100'000'000);
    for (std::size_t depth = 1; depth < 10; ++depth) {
        const auto at = a_second + static_cast<std::int64_t>(depth) * 100'000;
        request = hosts.ask(depth, depth + 1, at, 100'000'000 - static_cast<std::int64_t>(depth) * 1'000'000,
                            Hosts::for_(request));
    }
    const auto chain = hosts.result("h0", "h1").slowest.front().chain;
    REQUIRE(chain.size() == 8);
    for (std::size_t i = 0; i < chain.size(); ++i) {
        CHECK(chain[i].depth == static_cast<std::int64_t>(i) + 1);
        CHECK(chain[i].server == fmt::format("h{}", i + 2));
        CHECK(chain[i].joined == 1);
    }
    const auto result = hosts.result("h7", "h8");
    CHECK(chain_text(result.slowest.front(), result).find("; in that h9 asked h10 once: ") != std::string::npos);
}

TEST_CASE("hosts that say that each asks the other for its own question end somewhere") {
    Hosts hosts{"a", "b"};
    const auto first = hosts.ask(0, 1, a_second, 9'000'000);
    const auto second = hosts.ask(1, 0, a_second + 100'000, 8'000'000, Hosts::for_(first));
    // The first is asked for the second.
    const auto& end = hosts.hosts[0].client.ends.front();
    hosts.hosts[0].asked.push_back({first.seq, first.reply_seq, end.from, second.seq, Hosts::stream_of(0), 7});
    const auto chain = hosts.result("a", "b").slowest.front().chain;
    CHECK(chain.size() == 2);
}

TEST_CASE("of a request with more servers behind it than are looked at the first are said") {
    Hosts hosts{"app1", "web1", "db1"};
    const auto request = hosts.ask(0, 1, a_second, 900'000'000);
    for (std::uint32_t i = 0; i < 101; ++i) {
        hosts.ask(1, 2, a_second + 100'000 * (i + 1), 1'000'000 + i, Hosts::for_(request));
        hosts.hosts[1].connections.push_back({"10.9.1.1:40000", fmt::format("10.9.1.{}:7302", i + 3), 19, 23});
        hosts.hosts[1].client.ends.back().connection = 2 + i;
    }
    hosts.hosts[2].server.ends.clear();
    const auto result = hosts.result("app1", "web1");
    CHECK(result.behind.size() == 101);
    CHECK(result.slowest.front().chain.size() == 64);
}

TEST_CASE("of a host that says of more processes than it has that they hand over, none is believed") {
    Hosts hosts{"app1", "web1", "db1"};
    const auto request = hosts.ask(0, 1, a_second, 5'000'011);
    hosts.ask(1, 2, a_second + 100'000, 1'000'000, Hosts::for_(request));
    for (std::size_t i = 0; i < most_processes; ++i)
        hosts.hosts[1].handing.insert(static_cast<std::int64_t>(100 + i));
    CHECK(!hosts.result("app1", "web1").behind_ns);
}
