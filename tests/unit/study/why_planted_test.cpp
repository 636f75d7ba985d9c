// SPDX-License-Identifier: GPL-2.0-or-later
// Recordings whose causes are known, from their lines to the answer. Numbers are primes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "study/why.h"
#include "unit/analyze/analyzer_run.h"

using namespace stapgen;

namespace {

constexpr std::string_view header =
    "stapgen\t5\tnet-latency\tnet\ttime:time\tpid:int\ttid:int\tcomm:text\tway:text\tlocal:endpoint\tremote:endpoint\t"
    "tcp-app:stage\ttcp-app.wake-up:stage\ttcp-app.run-queue:stage\tapp-tcp:stage\tapp-tcp.nagle:stage\n"
    "ready\t1795180000000000000\t5000000000000\n";

struct Packet {
    int tid = 233;
    std::string comm = "serve", remote = "0.ffff0a090001:50021";
    int wake_up = 0, run_queue = 0;  ///< of a received one
    int nagle = 0;                   ///< of one that was sent

    [[nodiscard]] std::string line() const {
        const auto of = fmt::format("net\t5000000000101\t231\t{}\t{}\t{}\t0.ffff0a090002:7001\t{}\t", tid, comm,
                                    nagle > 0 ? "tx" : "rx", remote);
        return nagle > 0 ? fmt::format("{}-\t-\t-\t{}\t{}\n", of, nagle, nagle)
                         : fmt::format("{}{}\t{}\t{}\t-\t-\n", of, wake_up + run_queue, wake_up, run_queue);
    }
};

rows::Results results_of(const std::string& packets, bool explains_groups = false,
                         const std::vector<std::string>& by = {}) {
    const analyzer_run::Run run(std::string(header) + packets,
                                {.group_by = by, .explains = true, .explains_groups = explains_groups});
    auto results = analyze::results_of(run.analyzer->measured());
    study::explain(results);
    return results;
}

/// Of the connection of that number, by IPv4 or IPv6.
std::string remote_of(int number, bool is_ipv4) {
    return fmt::format("{}:{}", is_ipv4 ? "0.ffff0a090001" : "20010db800000000.7", 50021 + number);
}

/// 43 packets of each of 41 connections, which wait for 53.0 to 56.1 us.
std::string equal_connections(bool is_ipv4, const std::function<int(int connection, int packet)>& run_queue) {
    std::string all;
    for (int packet = 0; packet < 43; ++packet)
        for (int connection = 0; connection < 41; ++connection)
            all += Packet{.remote = remote_of(connection, is_ipv4),
                          .wake_up = 53000 + (packet * 41 + connection) * 7919 % 3119,
                          .run_queue = run_queue(connection, packet)}
                       .line();
    return all;
}

using Parts = std::vector<std::string>;
Parts parts_of(const std::vector<rows::CauseOfWait>& causes) {
    Parts parts;
    for (const auto& cause : causes)
        parts.push_back(cause.part);
    return parts;
}

const rows::CauseOfWait& cause_of(const study::Why& why, std::string_view part) {
    const auto found = std::ranges::find(why.causes, part, &rows::CauseOfWait::part);
    REQUIRE(found != why.causes.end());
    return *found;
}

/// Wakes up for long, waits for a CPU in the tail, and for Nagle: three causes.
std::string three_causes() {
    std::string all;
    for (int i = 0; i < 1009; ++i) {
        all += Packet{.wake_up = 211000 + i * 7919 % 1009, .run_queue = i % 149 == 0 ? 7001000 : 0}.line();
        all += Packet{.nagle = 103000 + i * 7919 % 9973}.line();
    }
    return all;
}

}  // namespace

TEST_CASE("three causes are planted, and these are the three that are explained") {
    const auto why = study::why_of(results_of(three_causes()));
    CHECK(parts_of(why.causes) == Parts{"tcp-app.wake-up", "tcp-app.run-queue", "app-tcp.nagle"});
    CHECK(why.answer.starts_with("A packet mostly waited for its thread to wake up: 5"));
    CHECK(
        why.answer.ends_with("a slow one waited for a CPU: 100 % of the extra time of the slowest 1 % (7 received)."));
}

TEST_CASE("the tail of why is that of the report: above p99 of its own direction") {
    const auto results = results_of(three_causes());
    const auto why = study::why_of(results);
    int compared = 0;
    for (const auto& tail : results.of<rows::Tail>()) {
        for (const auto& stage : tail.stages) {
            const auto part = std::ranges::find(why.parts, stage.stage, &study::WhyPart::name);
            if (part == why.parts.end()) continue;
            CHECK(part->excess.value() == doctest::Approx(stage.excess_share));
            ++compared;
        }
    }
    CHECK(compared == 3);
    REQUIRE(why.ways.size() == 2);
    CHECK(why.ways[0].excess.value() + why.ways[1].excess.value() == doctest::Approx(1));
    // What is little of both tails together is no cause by its own tail.
    CHECK(why.ways[1].excess.value() < 0.05);
}

TEST_CASE("one bad connection of 41 is named with its port") {
    for (const bool is_ipv4 : {true, false}) {
        const auto bad = [](int connection, int /*packet*/) { return connection == 17 ? 4001000 : 401; };
        const auto why = study::why_of(results_of(equal_connections(is_ipv4, bad)));
        const auto& cause = cause_of(why, "tcp-app.run-queue");
        const std::string remote = is_ipv4 ? "10.9.0.1:50038" : "[2001:db8::7]:50038";
        CHECK(cause.group == table::Group{{"local", std::string("10.9.0.2:7001")}, {"remote", remote}});
        CHECK(cause.who_share.value() == doctest::Approx(4001000.0 / (4001000 + 40 * 401)));
        CHECK(cause.who_packets_share.value() == doctest::Approx(1.0 / 41));
        CHECK(cause.what.find("10.9.0.2:7001 with " + remote) != std::string::npos);
        CHECK(cause_of(why, "tcp-app.wake-up").group.empty());
    }
}

TEST_CASE("one bad thread is named, and the connection that it alone serves") {
    std::string packets;
    for (int i = 0; i < 1009; ++i)
        packets += Packet{.tid = 241 + i % 11,
                          .remote = remote_of(i % 11, true),
                          .wake_up = 53000,
                          .run_queue = i % 11 == 7 ? 2003000 : 0}
                       .line();
    const auto why = study::why_of(results_of(packets));
    const auto& cause = cause_of(why, "tcp-app.run-queue");
    REQUIRE(cause.group.size() == 5);
    CHECK(cause.group[1] == table::GroupField{"remote", std::string("10.9.0.1:50028")});
    CHECK(cause.group[3] == table::GroupField{"tid", std::int64_t{248}});
}

TEST_CASE("none stands out among equal ones, of one, nor by a few long waits") {
    const auto groups = [](const std::string& packets) {
        int count = 0;
        for (const auto& cause : study::why_of(results_of(packets)).causes)
            count += cause.group.empty() ? 0 : 1;
        return count;
    };
    const auto all_alike = [](int connection, int packet) {
        return 401000 + (connection * 43 + packet) * 7919 % 10007;
    };
    CHECK(groups(equal_connections(true, all_alike)) == 0);
    // The same three packets of each 41st wait long: they are of all connections.
    CHECK(groups(equal_connections(true, [](int /*connection*/, int packet) { return packet < 3 ? 7001000 : 0; })) ==
          0);
    // Three losses that happen to be on one of them.
    CHECK(groups(equal_connections(
              true, [](int connection, int packet) { return connection == 17 && packet < 3 ? 211000000 : 0; })) == 0);
    std::string one;
    for (int i = 0; i < 1009; ++i)
        one += Packet{.wake_up = 53000, .run_queue = 2003000}.line();
    CHECK(groups(one) == 0);
    // Two of them are bad alike.
    CHECK(groups(equal_connections(true, [](int connection, int /*packet*/) {
              return connection == 17 || connection == 19 ? 4001000 : 401;
          })) == 0);
    // Of two one is half: it is not few packets.
    std::string two;
    for (int i = 0; i < 1009; ++i)
        two += Packet{.remote = remote_of(i % 2, true), .wake_up = 53, .run_queue = i % 2 * 2003000}.line();
    CHECK(groups(two) == 0);
}

TEST_CASE("beyond the limit owners are one, which has no name") {
    std::string packets;
    for (int i = 0; i < 5003; ++i)
        for (int packet = 0; packet < 2; ++packet)
            packets += Packet{.remote = remote_of(i, true), .wake_up = 53, .run_queue = i < 4500 ? 11 : 2003000}.line();
    const auto results = results_of(packets);
    for (const auto& one : results.of<rows::StandOut>())
        CHECK((one.owner != "connection" || (table::is_other(one.group) && one.stage.empty())));
    const auto caveats = study::why_of(results).caveats;
    CHECK(std::ranges::count(caveats, "there are many connections: of the last ones none is named") == 1);
}

TEST_CASE("groups have what they waited for, and their slow packets, the largest first") {
    std::string packets;
    for (int i = 0; i < 1009; ++i) {
        packets += Packet{.comm = "redis", .wake_up = 53000, .run_queue = i % 101 == 0 ? 7001000 : 0}.line();
        packets += Packet{.comm = "memcached", .wake_up = 11000, .run_queue = 13000}.line();
    }
    const auto groups = study::why_of(results_of(packets, true, {"comm"})).groups;
    REQUIRE(groups.size() == 2);
    CHECK(groups[0].group == table::Group{{"comm", std::string("redis")}});
    CHECK(groups[0].n == 1009);
    CHECK(groups[0].n_slow == 10);
    CHECK(groups[0].cause == "tcp-app.run-queue");
    CHECK(groups[0].cause_share == doctest::Approx(70010.0 / (70010 + 53477)));
    CHECK(groups[0].slow_cause == "tcp-app.run-queue");
    CHECK(groups[1].cause_share == doctest::Approx(13.0 / 24));
    CHECK(groups[1].n_slow == 0);
    CHECK(groups[1].slow_cause.empty());
    CHECK(groups[0].share + groups[1].share == doctest::Approx(1));
}
