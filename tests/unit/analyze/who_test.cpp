// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analyze/kinds.h"
#include "analyze/merge.h"
#include "analyzer_run.h"

using namespace analyzer_run;
namespace table = stapgen::table;

namespace {

const std::string who_header =
    std::string(rx_header) +
    "fields\twho\ttid:int\tcomm:text\twaited:text\tby:text\tn:count\tns:int\theld:int\tmax:int\n"
    "fields\twho-path\ttid:int\tcomm:text\twaited:text\tframes:stack\tn:count\tns:int\theld:int\tmax:int\n" +
    std::string(ready);
std::string waits(std::string_view by, int n, std::int64_t ns, std::int64_t held, std::int64_t max) {
    return fmt::format("who\t21\tweb\trun-queue\t{}\t{}\t{}\t{}\t{}\n", by, n, ns, held, max);
}

std::vector<stapgen::rows::Who> who_of(const Measured& measured) {
    stapgen::rows::Results results;
    put_kinds(measured, {}, results);
    return results.of<stapgen::rows::Who>();
}
/// n, sum, with a packet, max.
std::vector<std::int64_t> who_numbers(const std::vector<stapgen::rows::Who>& who, std::size_t row) {
    return {who.at(row).n, who.at(row).sum_ns, who.at(row).with_packet_ns.value_or(-1), who.at(row).max_ns};
}

}  // namespace

TEST_CASE("waits are added up by thread and by what was waited for, and neither counts nor drops take them") {
    const analyzer_run::Run run(who_header + waits("a[1]", 3, 700, 10, 400) + waits("b[2]", 1, 600, 600, 600) +
                                waits("a[1]", 2, 500, 0, 450) +
                                "who-path\t21\tweb\tasleep\tffffffff9a000001,ffffffff9a000002\t1\t50\t20\t50\n");
    const auto measured = run.analyzer->measured();
    CHECK_FALSE(measured.counts());
    CHECK_FALSE(measured.has<stapgen::rows::OfInterval<stapgen::rows::Stack>>());
    const auto who = who_of(measured);
    REQUIRE(who.size() == 3);
    CHECK(who_numbers(who, 0) == std::vector<std::int64_t>{1, 600, 600, 600});
    CHECK(who_numbers(who, 1) == std::vector<std::int64_t>{1, 50, 20, 50});
    CHECK(who_numbers(who, 2) == std::vector<std::int64_t>{5, 1200, 10, 450});
    CHECK(who.at(0).waiter == "web[21]");
    CHECK(who.at(0).waited == "run-queue");
    CHECK(who.at(0).by == "b[2]");
    CHECK(who.at(1).by == "0xffffffff9a000001 < 0xffffffff9a000002");
}

TEST_CASE("an interval has its own waits, and the whole has those of all") {
    analyzer_run::Run run(who_header, {.group_by = {"pid"}, .keep_intervals = true});
    run.feed(waits("a[1]", 3, 700, 10, 400) + "tick\t1795180005000000000\tseen=0\treported=0\n");
    const auto of_first = who_of(run.analyzer->take_interval().value());
    CHECK(who_numbers(of_first, 0) == std::vector<std::int64_t>{3, 700, 10, 400});
    run.feed(waits("a[1]", 1, 100, 0, 100) + "end\t1795180007000000000\tseen=0\treported=0\n");
    const auto of_second = who_of(run.analyzer->take_interval().value());
    CHECK(who_numbers(of_second, 0) == std::vector<std::int64_t>{1, 100, 0, 100});
    CHECK(who_numbers(who_of(run.analyzer->measured()), 0) == std::vector<std::int64_t>{4, 800, 10, 400});
}

TEST_CASE("what numbers of waits cannot be is not believed, and threads without end are one row") {
    std::string all = who_header + waits("a[1]", 1, -5, -7, -9);
    for (int i = 0; i < 5000; ++i)
        all += waits(fmt::format("t[{}]", i), 1, 10, 0, 10);
    const auto who = who_of(analyzer_run::Run(all).analyzer->measured());
    CHECK(who.size() <= 4097);
    std::int64_t n = 0, ns = 0;
    for (std::size_t i = 0; i < who.size(); ++i) {
        n += who_numbers(who, i)[0];
        ns += who_numbers(who, i)[1];
    }
    CHECK(n == 5001);
    CHECK(ns == 50000);
    CHECK(who.at(0).waiter == "other");
}

TEST_CASE("sleeps of threads with requests are rows that say who ended them, and nothing of packets") {
    const auto sleeps = [](std::string_view waited, std::string_view waker, std::string_view meanwhile, int n,
                           std::int64_t ns) {
        return fmt::format("who-request\t21\tweb\t{}\t0x7f01\t{}\tlog[77]\t{}\t{}\t{}\t{}\t{}\n", waited, waker,
                           meanwhile, n, ns, ns, ns);
    };
    const std::string header = std::string(rx_header) +
                               "fields\twho-request\ttid:int\tcomm:text\twaited:text\tby:text\twaker:text\tholder:"
                               "text\tmeanwhile:text\tn:count\t"
                               "ns:int\theld:int\tmax:int\n" +
                               std::string(ready);
    const analyzer_run::Run run(header + sleeps("lock", "log[77]", "disk", 3, 700) +
                                sleeps("lock", "log[77]", "-", 1, 90) + sleeps("lock", "log[77]", "disk", 2, 500) +
                                sleeps("server.first", "-", "-", 5, 800));
    const auto measured = run.analyzer->measured();
    CHECK_FALSE(measured.counts());
    const auto who = who_of(measured);
    REQUIRE(who.size() == 3);
    CHECK(who_numbers(who, 0) == std::vector<std::int64_t>{5, 1200, -1, 700});
    CHECK(who.at(0).waited == "lock");
    CHECK(who.at(0).waker == "log[77]");
    CHECK(who.at(0).holder == "log[77]");
    CHECK(who.at(0).meanwhile == "disk");
    CHECK(who_numbers(who, 1) == std::vector<std::int64_t>{5, 800, -1, 800});
    CHECK(who_numbers(who, 2) == std::vector<std::int64_t>{1, 90, -1, 90});
    // The title adds up sleeps: what a server took is in those.
    stapgen::rows::Results results;
    put_kinds(measured, {}, results);
    CHECK(results.sentences.who == "What threads slept for while they had a request to answer: lock 1.29 us");
    // Measurements are added up.
    auto sum = measured;
    REQUIRE(stapgen::analyze::merge(sum, measured));
    CHECK(who_numbers(who_of(sum), 0) == std::vector<std::int64_t>{10, 2400, -1, 700});
}
