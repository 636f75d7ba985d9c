// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "between/join.h"
#include "service.h"

using namespace stapgen::between;

namespace {

const Part& part_of(const Result& result, const std::string& where) {
    const auto found = std::ranges::find(result.parts, where, &Part::where);
    REQUIRE(found != result.parts.end());
    return *found;
}

}  // namespace

TEST_CASE("client, between and server are what each request took, whatever the clocks say") {
    Service service;
    for (std::uint32_t i = 0; i < 1009; ++i)
        service.ask(17 * i, 23 * i, {});
    const auto answer = service.answer();
    REQUIRE(answer.results.size() == 1);
    const auto& result = answer.results.front();
    CHECK(result.requests == 1009);
    CHECK(part_of(result, "client").mean_ns == 24'000);
    CHECK(part_of(result, "between").mean_ns == 68'000);
    CHECK(part_of(result, "server").mean_ns == 307'000);
    CHECK(result.parts.size() == 3);
    CHECK(result.fastest_ns == 68'000);
    CHECK(result.offset_ns == Service::ahead - 3'000);
    CHECK(result.offset_error_ns == 34'000);
    CHECK(result.ways.front().p99_ns == 0);
    CHECK(result.seen_as == "10.0.0.1 asks 10.9.0.2:5432; to the server it is 10.0.0.1 that asks 10.0.0.2:5432");
}

TEST_CASE("the tail is where the slowest requests take longer, and the rest of a reply is nobody's") {
    Service service;
    for (std::uint32_t i = 0; i < 1009; ++i) {
        Service::Times times{.rest = 5'000};
        if (i % 113 == 0) times.back += 7'000'000;
        service.ask(i, i, times);
    }
    const auto result = service.answer().results.front();
    CHECK(result.slow == 9);
    CHECK(*part_of(result, "between").excess == doctest::Approx(1));
    CHECK(*part_of(result, "server").excess == doctest::Approx(0));
    CHECK(part_of(result, "reply").mean_ns == 5'000);
    CHECK(part_of(result, "client").mean_ns == 24'000);
    CHECK(*result.ways.back().p50_ns < 1'000);
}

TEST_CASE("of more requests than are looked at at once the fastest make the lines, wherever they are") {
    Service service;
    for (std::uint32_t i = 0; i < 140'009; ++i) {
        service.ask(i, i,
                    {.forth = 31'000 + (i % 1009 == 7 ? 0 : 50'000 + i % 977),
                     .back = 37'000 + (i % 997 == 5 ? 0 : 60'000 + i % 971)});
    }
    const auto result = service.answer().results.front();
    CHECK(result.requests == 140'009);
    CHECK(result.fastest_ns == 68'000);
    CHECK(result.offset_ns == Service::ahead - 3'000);
    CHECK(result.offset_error_ns == 34'000);
    CHECK(std::abs(*result.drift_ppm) < 1e-3);
    CHECK(*result.ways.front().p50_ns > 50'000);
}

TEST_CASE("what one end has alone is counted, and segments sent again are their requests'") {
    Service service;
    for (std::uint32_t i = 0; i < 101; ++i)
        service.ask(i, 7 * i, {});
    service.app.client.ends.erase(service.app.client.ends.begin() + 3);
    service.db.server.ends.resize(99);
    service.app.client.resent = {{0, 5}, {0, 5}, {0, 11}, {0, 3}};
    service.db.server.resent = {{0, 13}};
    const auto result = service.answer().results.front();
    CHECK(result.requests == 98);
    CHECK(result.client_only == 2);
    CHECK(result.server_only == 1);
    CHECK(result.ways.front().resent == 2);
    CHECK(result.ways.front().segments == 3);
    CHECK(result.ways.back().resent == 1);
}

TEST_CASE("where no request is found the answer says what that may be") {
    Service service;
    service.ask(1, 2, {});
    service.db.server.ends.front().seq = 3;
    const auto says_time = [](const Answer& answer) {
        REQUIRE(answer.results.empty());
        REQUIRE(answer.missing.size() == 1);
        return answer.missing.front().find("no server's recording is of the same time") != std::string::npos;
    };
    CHECK(says_time(service.answer()));
    auto &asked = service.app.client.ends.front(), &served = service.db.server.ends.front();
    served.from = asked.from;
    served.to = asked.to;
    CHECK_FALSE(says_time(service.answer()));
}

TEST_CASE("of a million requests with wraps and numbers that come twice none is joined to another's") {
    std::mt19937 random(29);
    std::vector<End> client, server;
    constexpr int requests = 1'000'000, connections = 97;
    struct At {
        std::uint32_t seq, reply_seq;
    };
    std::vector<At> at(connections);
    for (auto& connection : at)
        connection = {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
    for (int i = 0; i < requests; ++i) {
        auto& connection = at[random() % connections];
        // `before` is the request's number: what has to be the server's.
        End end{.seq = connection.seq, .reply_seq = connection.reply_seq, .from = i * 1000LL, .to = i * 1000LL + 999};
        // Now and then 4 GiB go both ways, or nothing does: numbers come twice.
        if (random() % 1009 != 0) {
            connection.seq += static_cast<std::uint32_t>(1 + random() % 1'000'003);
            connection.reply_seq += static_cast<std::uint32_t>(1 + random() % 10'000'019);
        }
        end.before = i;
        if (random() % 211 != 0) client.push_back(end);
        end.from += 100;
        end.to -= 100;
        if (random() % 223 != 0) server.push_back(end);
    }
    const auto joined = join({client, {}}, {server, {}});
    std::int64_t wrong = 0;
    for (const auto& pair : joined.pairs)
        wrong += client[pair.client].before != server[pair.server].before;
    CHECK(joined.pairs.size() > requests * 98LL / 100);
    CHECK(joined.ambiguous > 0);
    CHECK(wrong == 0);
    CHECK(joined.pairs.size() + joined.client_only + joined.ambiguous + joined.impossible == client.size());
}

TEST_CASE("a box that changes one number by a constant in each connection hides no request, and joins none wrongly") {
    for (const auto changed : {&End::reply_seq, &End::seq}) {
        Service service;
        service.app.connections.push_back({"10.0.0.1:40001", "10.9.0.2:5432"});
        service.db.connections.push_back({"10.0.0.2:5432", "10.0.0.1:40001"});
        for (std::uint32_t i = 0; i < 211; ++i) {
            service.ask(17 * i, 0xfffffe00 + 23 * i, {});
            const auto connection = i % 2;
            service.app.client.ends.back().connection = connection;
            auto& served = service.db.server.ends.back();
            served.connection = connection;
            served.*changed += connection == 0 ? 0x80000001 : 977;
        }
        auto& last = service.db.server.ends.back();
        last.*changed += 5;  // not as the others
        const auto result = service.answer().results.front();
        CHECK(result.requests == 210);
        CHECK(result.by_difference == 210);
        CHECK(result.client_only == 1);
        CHECK(result.server_only == 1);
        CHECK(part_of(result, "server").mean_ns == 307'000);
        CHECK(result.slowest.front().match == "difference");
    }
}

TEST_CASE("a difference that two requests have in common says nothing") {
    Service service;
    for (std::uint32_t i = 0; i < 2; ++i) {
        service.ask(17 * i, 23 * i, {});
        service.db.server.ends.back().reply_seq += 977;
    }
    CHECK(service.answer().results.empty());
}

TEST_CASE("where a box changes both numbers a request is known by its place between the same addresses") {
    Service service;
    service.db.connections.front() = {"10.9.0.2:5432", "10.0.0.1:40000", 5'000'007, 77};
    service.app.connections.front() = {"10.0.0.1:40000", "10.9.0.2:5432", 7, 4'000'000'000};
    for (std::uint32_t i = 0; i < 101; ++i) {
        service.ask(7 + 17 * i, 4'000'000'000 + 23'000'000 * i, {});
        auto& served = service.db.server.ends.back();
        served.seq = 5'000'007 + 17 * i;
        served.reply_seq = 77 + 23'000'000 * i;
    }
    // The first three of one end, and the last two of the other, are not in its recording: all sizes are equal.
    service.app.client.ends.erase(service.app.client.ends.begin(), service.app.client.ends.begin() + 3);
    service.db.server.ends.resize(99);
    const auto result = service.answer().results.front();
    CHECK(result.requests == 96);
    CHECK(result.by_position == 96);
    CHECK(part_of(result, "between").mean_ns == 68'000);
    // Another connection of these addresses came later: which of both it is nobody knows.
    service.db.connections.push_back(service.db.connections.front());
    CHECK(service.answer().results.empty());
    service.db.connections.pop_back();
    service.db.connections.front().remote = "10.0.0.9:40000";
    CHECK(service.answer().results.empty());
}
