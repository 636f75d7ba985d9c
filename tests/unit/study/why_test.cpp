// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/why.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "kinds/latency/waits.h"
#include "study/whose.h"
#include "unit/show/repeated.h"

using namespace stapgen;
using table::Group, table::Histogram;

namespace {

study::Why explained(rows::Results results) {
    study::explain(results);
    return study::why_of(results);
}

constexpr std::int64_t ms = 1'000'000;

/// Results of net-latency, row by row.
struct Made {
    std::vector<rows::Stage> stages;
    std::vector<rows::Way> ways;
    std::vector<rows::Tail> tails;
    std::vector<rows::Slowest> slowest;
    rows::Accounting accounting;
    std::vector<rows::Origin> origins;

    void way(const std::string& name, std::int64_t n) { ways.push_back({std::ssize(ways), name, n}); }
    void stage(const std::string& name, Histogram stats, Group group = {}) {
        const auto dot = name.find('.');
        if (group.empty() && dot == std::string::npos && !ways.empty())
            ways.back().stages.push_back({name, stats.sum()});
        stages.push_back({name, std::move(group), std::move(stats)});
        if (dot != std::string::npos) stages.back().part_of = name.substr(0, dot);
    }
    void tail(std::int64_t way, std::int64_t threshold_ns, double slow_ns, double rest_ns) {
        tails.push_back({.number = way,
                         .threshold_ns = threshold_ns,
                         .n_slow = 7,
                         .slow_mean_ns = slow_ns,
                         .rest_mean_ns = rest_ns});
    }
    void excess(std::size_t way, const std::string& name, double share) {
        tails.at(way).stages = {{.stage = name, .excess_share = share}};
    }
    void account(std::int64_t seen, std::int64_t filtered, std::int64_t incomplete_n, std::int64_t lost) {
        accounting.seen = seen;
        accounting.filtered = filtered;
        accounting.incomplete = incomplete_n;
        accounting.lost = lost;
    }
    [[nodiscard]] rows::Results results() const {
        rows::Results all;
        all.put(stages);
        all.put(ways);
        all.put(tails);
        all.put(slowest);
        all.put(origins);
        all.one<rows::Accounting>() = accounting;
        return all;
    }
};

Group thread(std::int64_t pid, std::int64_t tid, const std::string& comm) {
    return {{"pid", pid}, {"tid", tid}, {"comm", comm}};
}

/// 1,009 replies, of each 40 ms are Nagle's.
Made nagle() {
    Made made;
    made.way("tx", 1009);
    made.stage("app-tcp", repeated(41 * ms, 1009));
    made.stage("app-tcp.send-call", repeated(ms, 1009));
    made.stage("app-tcp.nagle", repeated(40 * ms, 1009));
    return made;
}

std::string only_cause(const Made& made) {
    const auto why = explained(made.results());
    REQUIRE(why.causes.size() == 1);
    return why.causes.front().what;
}

}  // namespace

TEST_CASE("a cause is a sentence, with what the table of waits knows of it") {
    auto made = nagle();
    made.stage("app-tcp.nagle", repeated(40 * ms, 1009), thread(233, 233, "redis-server"));
    const auto why = explained(made.results());
    REQUIRE(why.causes.size() == 1);
    const auto& cause = why.causes.front();
    CHECK(cause.part == "app-tcp.nagle");
    // The whole sentence is in tests/golden/why.case.
    CHECK(cause.what.starts_with("1,009 of 1,009 packets sent by redis-server[233] waited for "));
    CHECK(cause.known == kinds::latency::wait_of("app-tcp.nagle")->known);
    CHECK(cause.remedy == kinds::latency::wait_of("app-tcp.nagle")->remedy);
    CHECK(why.caveats.empty());
    CHECK(why.nothing.empty());
}

TEST_CASE("the time is that of all packets, and what divides a stage counts instead of it") {
    auto made = nagle();
    made.stage("qdisc", repeated(ms, 1009));
    const auto why = explained(made.results());
    REQUIRE(why.parts.size() == 3);
    CHECK(why.parts[0].name == "app-tcp.nagle");
    CHECK(why.parts[0].share == doctest::Approx(40.0 / 42));
    CHECK(why.parts[1].share == doctest::Approx(1.0 / 42));
    CHECK(why.parts[0].n == 1009);
    CHECK(why.parts[0].p50_ns.value_or(0) == doctest::Approx(40.0 * ms).epsilon(0.002));
    CHECK_FALSE(why.parts[0].excess);
}

TEST_CASE("whose packets: one thread, one process, one name, or the filter") {
    const auto sentence = [](const std::vector<std::pair<int, Group>>& groups, const table::Labels& filters = {}) {
        auto made = nagle();
        for (const auto& [n, group] : groups)
            made.stage("app-tcp.nagle", repeated(40 * ms, n), group);
        made.origins.emplace_back().filters = filters;
        const auto text = only_cause(made);
        return text.substr(0, text.find(" waited"));
    };
    const std::string all = "1,009 of 1,009 packets sent";
    CHECK(sentence({}) == all);
    CHECK(sentence({{1009, thread(231, 233, "worker")}}) == all + " by worker[233]");
    CHECK(sentence({{1002, thread(231, 233, "worker")}, {7, thread(231, 239, "worker")}}) ==
          all + " by 2 threads of worker[231]");
    CHECK(sentence({{1002, thread(231, 233, "worker")}, {7, thread(231, 239, "bio")}}) ==
          all + " by 2 threads of process 231");
    CHECK(sentence({{1002, thread(231, 233, "nginx")}, {7, thread(241, 241, "nginx")}}) ==
          all + " by threads named nginx");
    CHECK(sentence({{1002, thread(231, 233, "nginx")}, {7, thread(241, 241, "curl")}}) == all);
    CHECK(sentence({{1002, thread(231, 233, "nginx")}, {7, {{"other", true}}}}) == all);
    // Of packets in no group whose they are is not known.
    CHECK(sentence({{1002, thread(231, 233, "nginx")}}) == all);
    CHECK(sentence({}, {{"comm", "memcached"}}) == all + " by threads named memcached");
    CHECK(sentence({}, {{"target-pid", "211"}}) == all + " by process 211");
    CHECK(sentence({}, {{"port", "211"}}) == all);
}

TEST_CASE("of packets in no group the slowest say whose they are, if they waited there and agree") {
    const auto sentence = [](std::int64_t nagle_ns, std::int64_t tid, const std::string& remote) {
        auto made = nagle();
        for (int i = 0; i < 3; ++i) {
            auto of = thread(231, i == 2 ? tid : 233, "redis");
            of.push_back({"remote", i == 2 ? remote : "10.0.0.2:40009"});
            made.slowest.push_back(
                {.total_ns = 43 * ms, .stages_ns = {{"app-tcp.nagle", nagle_ns}, {"app-tcp", 43 * ms}}, .of = of});
        }
        const auto text = only_cause(made);
        return text.substr(text.find("TCP_NODELAY") + 11);
    };
    CHECK(sentence(41 * ms, 233, "10.0.0.2:40013") ==
          "; the 3 slowest are of redis[233], on 2 connections with 10.0.0.2");
    CHECK(sentence(41 * ms, 233, "10.0.0.2:40009") == "; the 3 slowest are of redis[233], with 10.0.0.2:40009");
    CHECK(sentence(41 * ms, 233, "10.0.0.3:40013") == "; the 3 slowest are of redis[233]");
    CHECK(sentence(41 * ms, 239, "10.0.0.2:40013") == "; the 3 slowest are of redis, on 2 connections with 10.0.0.2");
    CHECK(sentence(41 * ms, 239, "10.0.0.3:40013") == "; the 3 slowest are of redis");
    CHECK(sentence(19 * ms, 233, "10.0.0.2:40013").empty());
}

TEST_CASE("where the mean is far above the median it says how many waited longer, and of a few packets the mean") {
    auto made = nagle();
    Histogram two = repeated(3 * ms, 701);
    two += repeated(130 * ms, 308);
    made.stages.back().distribution = two;
    CHECK(only_cause(made).find(
              "waited for an acknowledgment (median 3.00 ms; 308 longer than 41.8 ms, the mean): Nagle") !=
          std::string::npos);
    made.stages.back().distribution = repeated(9001 * ms, 5);
    CHECK(only_cause(made).starts_with("5 of 1,009 packets sent waited for an acknowledgment (mean 9.00 s)"));
}

TEST_CASE("a cause matters with 5 % of the time or of a tail's excess, and none that is not known") {
    Made made;
    made.way("rx", 1009);
    made.tail(0, 300 * ms, 400e6, 100e6);
    made.stage("tcp-app", repeated(100 * ms, 1009));
    made.stage("tcp-app.undivided", repeated(43 * ms, 1009));
    made.stage("tcp-app.program", repeated(48 * ms, 1009));
    made.stage("tcp-app.run-queue", repeated(5 * ms, 1009));
    made.stage("tcp-app.asleep", repeated(4 * ms, 1009));
    const auto parts = [&] {
        std::vector<std::string> names;
        for (const auto& cause : explained(made.results()).causes)
            names.push_back(cause.part);
        return names;
    };
    using Names = std::vector<std::string>;
    CHECK(parts() == Names{"tcp-app.program", "tcp-app.run-queue"});
    made.excess(0, "tcp-app.asleep", 0.049);
    CHECK(parts() == Names{"tcp-app.program", "tcp-app.run-queue"});
    made.excess(0, "tcp-app.asleep", 0.83);
    CHECK(parts() == Names{"tcp-app.program", "tcp-app.asleep", "tcp-app.run-queue"});
    made.stage("udp-app", repeated(11 * ms, 1009));
    CHECK(parts() == Names{"tcp-app.program", "tcp-app.asleep", "udp-app"});  // run-queue is 4.5 % of more
    made.stage("udp-app.recv-call", repeated(11 * ms, 1009));
    CHECK(parts() == Names{"tcp-app.program", "tcp-app.asleep", "udp-app.recv-call"});
    made.stage("drv-ip", repeated(31 * ms, 1009));
    CHECK(parts() == Names{"tcp-app.asleep", "tcp-app.program", "drv-ip", "udp-app.recv-call"});
    // Of a direction whose tail is short it is little of both tails together.
    made.way("tx", 1009);
    made.tail(1, 3 * ms, 4e6, 1e6);
    made.excess(1, "qdisc", 0.97);
    CHECK(parts() == Names{"tcp-app.asleep", "tcp-app.program", "drv-ip", "udp-app.recv-call"});
    const auto all = explained(made.results()).parts;
    const auto asleep = std::ranges::find(all, "tcp-app.asleep", &study::WhyPart::name);
    REQUIRE(asleep != all.end());
    CHECK(asleep->excess.value() == doctest::Approx(0.83));
    CHECK(asleep->excess_of_all == doctest::Approx(0.83 * 100 / 101));
    made.ways.pop_back();
    made.tails.pop_back();
    CHECK(study::tail_text(explained(made.results()).ways) == "7 received > 300 ms");
}

TEST_CASE("what is missing is said above 1 %, and what is not divided") {
    auto made = nagle();
    made.account(1009, 0, 10, 10);
    made.accounting.transport.skipped_probes = 10;
    CHECK(explained(made.results()).caveats.empty());
    made.account(1009, 0, 11, 11);
    made.accounting.incomplete_by = {{"mptcp", 11}, {"dropped", 0}};
    made.accounting.transport.skipped_probes = 11;
    CHECK(explained(made.results()).caveats ==
          std::vector<std::string>{"1.1 % of the packets seen were lost",
                                   "11 probes were skipped, for 1,009 packets seen",
                                   "1.1 % could not be followed (mptcp)"});
    made = nagle();
    made.stages[1].stage = "app-tcp.undivided";
    CHECK(explained(made.results()).caveats == std::vector<std::string>{"2.4 % of app-tcp is undivided"});
    made.stages.erase(made.stages.begin() + 1);
    CHECK(explained(made.results()).caveats == std::vector<std::string>{"2.4 % of app-tcp is undivided"});
    made = nagle();
    made.stages.resize(1);
    CHECK(explained(made.results()).caveats ==
          std::vector<std::string>{"stages are not divided: rx-, tx- and net-latency do that, without --no-parts"});
    REQUIRE(explained(made.results()).causes.size() == 1);
    CHECK(explained(made.results()).causes.front().part == "app-tcp");
}

TEST_CASE("too few packets for a tail are said of each direction") {
    Made made;
    made.way("rx", 13);
    made.stage("drv-ip", repeated(ms, 13));
    made.stage("tcp-app", repeated(ms, 13));
    made.stage("tcp-app.asleep", repeated(ms, 13));
    made.way("tx", 367);
    made.stage("qdisc", repeated(ms, 367));
    CHECK(explained(made.results()).caveats ==
          std::vector<std::string>{"13 packets received, 367 sent are too few for a tail: 368 are needed"});
    made.ways.back().n = 373;
    CHECK(explained(made.results()).caveats ==
          std::vector<std::string>{"13 packets received are too few for a tail: 368 are needed"});
    CHECK(study::packets_text(explained(made.results()).ways, "packet") == "13 packets received, 373 sent");
}

TEST_CASE("without packets it says what to check") {
    Made made;
    CHECK(explained(made.results()).nothing.find("there was no TCP or UDP data") != std::string::npos);
    made.account(2017, 2017, 0, 0);
    CHECK(explained(made.results()).nothing.find("Check the filters") != std::string::npos);
    made.account(2017, 2011, 6, 0);
    CHECK(explained(made.results()).nothing.find("most that were seen were filtered") != std::string::npos);
    made.account(2017, 5, 2012, 0);
    CHECK(explained(made.results()).nothing.find("measured to its end") != std::string::npos);
}
