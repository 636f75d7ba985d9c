// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "decode/other_lines.h"
#include "decode/record_parser.h"

using namespace stapgen::decode;

// As SystemTap 5.1 printed them on Linux 6.12, but for the file's folder.
TEST_CASE("a probe's line of stap -t gives its point, its hits and its cycles") {
    const auto times = parse_probe_times(
        "kprobe.function(\"ip_rcv_core\")!, (/x/stapgen_receive.stp:21:45), hits: 3095, cycles: "
        "3758min/280485avg/145923354max, variance: 806655651899, from: stapgen.light.ip4.receive from: "
        "stapgen.ip4.receive from: stapgen.ip.receive from: stapgen.ip.receive, index: 14");
    REQUIRE(times);
    CHECK(times->point == "kprobe.function(\"ip_rcv_core\")");
    CHECK(times->hits == 3095);
    CHECK(times->mean_cycles == 280485);
    CHECK(times->max_cycles == 145923354);
}

TEST_CASE("what is no part of the measurement is no probe's") {
    for (const auto* line :
         {"begin(-9223372036854775808), (/x/registers.stp:11:7), hits: 1, cycles: 3120114min/3120114avg/3120114max, "
          "variance: 0, from: init from: init, index: 12",
          "end, (/x/rx-latency.stp:30:1), hits: 1, cycles: 3398542min/3398542avg/3398542max, variance: 0, index: 3",
          "hits: 1, cycles: -1066278088min/-1066278088avg/-1066278088max, variance: 0"}) {
        CAPTURE(line);
        REQUIRE(parse_probe_times(line));
        CHECK(parse_probe_times(line)->point.empty());
    }
}

TEST_CASE("headings, the runtime's own times and a lock's contention are known, and no probe's") {
    for (const auto* line :
         {"----- probe hit report: ", "----- refresh report:", "----- module init report:",
          "hits: 3, cycles: 5min/7avg/11max, variance: 0", "'stapgen_driver_time' lock contention occurred 13 times"}) {
        CAPTURE(line);
        REQUIRE(parse_probe_times(line));
        CHECK(parse_probe_times(line)->point.empty());
    }
}

TEST_CASE("what only resembles a probe's line is none") {
    for (const auto* line :
         {"", "hits: ", "x, (y), hits: , cycles: 1min/2avg/3max", "x, (y), hits: 1, cycles: 1min/2avg/",
          "x, (y), hits: 99999999999999999999, cycles: 1min/2avg/3max", "----- report", "'x' lock", "rx\t1\t2"}) {
        CAPTURE(line);
        CHECK_FALSE(parse_probe_times(line));
    }
}

TEST_CASE("the parser takes such lines behind the script's last one") {
    RecordParser parser;
    parser.feed("stapgen\t3\trx-latency\trx\ttime:time");
    parser.feed("end\t17\tseen=0\treported=0");
    parser.feed("----- probe hit report: ");
    const auto line = parser.feed("kprobe.function(\"udp_rcv\"), (x:1:1), hits: 7, cycles: 1min/2avg/3max, index: 0");
    REQUIRE(std::holds_alternative<ProbeTimes>(line));
    CHECK(std::get<ProbeTimes>(line).hits == 7);
    CHECK(parser.input().unrecognised == 0);
}
