// SPDX-License-Identifier: GPL-2.0-or-later
#include "text_report.h"

#include <doctest/doctest.h>

#include <limits>

#include "has.h"
#include "unit/rows.h"

using namespace text_report;

TEST_CASE("stages are a table in microseconds, and what n does not allow is a dash with its reason") {
    CHECK(text_of(rx_summary()) ==
          "rx-latency, 2026-11-20 13:06:40 +0000, for 10.0 s\n"
          "\n"
          "STAGE [us]    N    MEAN    SD     MIN     P50     P90   P99 P99.9     MAX SHARE\n"
          "drv-ip     1009   4.001 0.000   4.001   4.001   4.001 4.001     -   4.001  8.9%\n"
          "tcp-app     367 112.447 0.000 112.447 112.447 112.447     -     - 112.447 91.1%\n"
          "\n"
          "-: not enough samples; P99 needs 368, P99.9 needs 3688\n"
          "\n"
          "1020 seen = 1009 reported + 7 filtered + 3 incomplete (no-read 3) + 1 lost (evicted 1)\n"
          "WARNING: 1 of 1020 seen were lost\n");
}

TEST_CASE("SHARE is of the stages of one direction, and a line says so where there are two") {
    auto summary = rx_summary();
    summary.stages = {
        {"drv-ip", {}, repeated(3000, 1)}, {"tcp-app", {}, repeated(1000, 1)}, {"qdisc", {}, repeated(7000, 1)}};
    const std::vector<std::string> stages{"drv-ip", "tcp-app", "qdisc"};
    stapgen::rows::Breakdown rx("rx", stages, 1), tx("tx", stages, 1);
    rx.add(4000, std::vector<std::int64_t>{3000, 1000, -1});
    tx.add(7000, std::vector<std::int64_t>{-1, -1, 7000});
    summary.breakdowns = {rx, tx};
    const auto both = text_of(summary);
    CHECK(has(both, "75.0%"));
    CHECK(has(both, "25.0%"));
    CHECK(has(both, "100.0%"));
    CHECK(has(both, "SHARE: of the time of all stages of the same direction\n"));
    summary.breakdowns = {rx};
    CHECK_FALSE(has(text_of(summary), "SHARE:"));
}

TEST_CASE("stages that no packet went through have no row, unless there is no other") {
    auto summary = rx_summary();
    summary.stages.push_back({"udp-app", {}, {}});
    CHECK_FALSE(has(text_of(summary), "udp-app"));
    summary.stages = {{"drv-ip", {}, {}}, {"udp-app", {}, {}}};
    CHECK(has(text_of(summary), "udp-app"));
}

TEST_CASE("percentiles are those the user asked for, in his spelling") {
    const auto text = text_of(rx_summary(), {.percentiles = {{"90.0", 90}, {"25", 25}}});
    CHECK(has(text, "P90.0     P25"));
    CHECK_FALSE(has(text, "P50"));
    CHECK_FALSE(has(text, "not enough samples"));
}

TEST_CASE("nothing is warned of when nothing is wrong") {
    auto summary = rx_summary();
    summary.accounting = {1009, 1009, 0, {}, {{"evicted", 0}}, {}, true};
    const auto text = text_of(summary);
    CHECK(has(text, "1009 seen = 1009 reported + 0 filtered + 0 incomplete + 0 lost\n"));
    CHECK_FALSE(has(text, "WARNING"));
    CHECK_FALSE(has(text, "not understood"));
}

TEST_CASE("every loss has its warning") {
    auto summary = rx_summary();
    summary.accounting = {1020, 1009, 7, {}, {}, {}, false};
    summary.transport = {5, 11, 13};
    auto text = text_of(summary);
    CHECK(has(text, "+ 0 lost + 4 unaccounted\n"));
    CHECK(has(text, "WARNING: the script's counts do not add up\n"));
    CHECK(has(text, "WARNING: the input ends without its last line"));
    CHECK(has(text,
              "WARNING: SystemTap skipped 5 probes: at most that many records are missing or lack a step; measure less "
              "(--port, -x), or run with --cost to see which ones\n"));
    CHECK(has(text, "WARNING: 11 probes ended in an error\n"));
    CHECK(has(text, "WARNING: the buffer to user space was full 13 times\n"));
    summary.transport.enough_buffer_mb = 17;
    CHECK(
        has(text_of(summary),
            "WARNING: the buffer to user space was full 13 times; 17 MiB per CPU (-s 17MiB) would have been enough\n"));
    summary.broke_off = "a table is full\x1b";
    CHECK(has(text_of(summary), "WARNING: the run broke off: a table is full\\x1b\n"));
    summary.accounting.seen = 1000;
    text = text_of(summary);
    CHECK(has(text, "+ 0 lost - 16 unaccounted\n"));
}

TEST_CASE("skipped probes are named where their functions are known, the largest three") {
    auto summary = rx_summary();
    const auto said = [&](std::vector<Cause> known) {
        summary.transport = {.skipped_probes = 90, .skipped_by = std::move(known)};
        const auto text = text_of(summary);
        const auto begin = text.find("SystemTap skipped 90 probes");
        return begin == std::string::npos ? text : text.substr(begin + 27, text.find(':', begin) - begin - 27);
    };
    CHECK(said({{"ip_rcv_core", 7}, {"tcp_v4_rcv", 70}}) == " (tcp_v4_rcv 70, ip_rcv_core 7, not known 13)");
    CHECK(said({{"a", 5}, {"b", 40}, {"c", 20}, {"d", 25}}) == " (b 40, d 25, c 20, others 5)");
    CHECK(said({{"x\x1b", 90}}) == " (x\\x1b 90)");
    CHECK_FALSE(has(text_of(summary), "--cost"));
}

TEST_CASE("a clock that was set and a suspend are reported, however large the number is") {
    auto summary = rx_summary();
    CHECK_FALSE(has(text_of(summary), "meanwhile"));
    summary.clock_set_ns = -3'607'000'000'000;
    summary.suspended_ns = 13'100'000'000;
    auto text = text_of(summary);
    CHECK(has(
        text,
        "WARNING: the wall clock was set back by 3607 s during the run; times continue from the clock at the start\n"));
    CHECK(has(text, "WARNING: the machine was suspended for 13.1 s during the run; no duration includes that\n"));
    summary.clock_set_ns = std::numeric_limits<std::int64_t>::min();
    CHECK(has(text_of(summary), "set back by 9223372037 s during the run"));
    summary.clock_set_ns = 101'000'000;
    CHECK(has(text_of(summary), "set forward by 101 ms during the run"));
}

TEST_CASE("lines that were not understood are reported by number and reason") {
    auto summary = rx_summary();
    using stapgen::decode::Flaw;
    summary.input = {1013, 1011, 2, {{4, Flaw::field_count, "rx\t7"}, {9, Flaw::bad_number}}};
    CHECK(has(text_of(summary),
              "2 of 1013 lines not understood:\n  line 4 (wrong number of fields): rx\\x097\n"
              "  line 9 (not a number, or out of range)\n"));
    summary.input.unrecognised = 7;
    CHECK(has(text_of(summary), "7 of 1013 lines not understood; the first:\n  line 4"));
}

TEST_CASE("values have no unit and no decimals where they are whole") {
    auto summary = rx_summary();
    summary.values = {{"epoll_events", {}, repeated(3, 37)}};
    CHECK(has(text_of(summary),
              "VALUE         N MEAN   SD MIN P50 P90 P99 P99.9 MAX SUM\n"
              "epoll_events 37 3.00 0.00   3   3   3   -     -   3 111\n"));
}

TEST_CASE("one group alone is the whole and is not shown twice, two are shown") {
    auto summary = rx_summary();
    summary.stages.push_back({"drv-ip", {{"pid", 309}, {"comm", "nginx"}}, repeated(4001, 1009)});
    CHECK_FALSE(has(text_of(summary), "nginx"));
    summary.stages.push_back({"drv-ip", {{"pid", 19550}, {"comm", "evil\x1b[31m"}}, repeated(5003, 7)});
    const auto text = text_of(summary);
    CHECK(has(text, "  PID COMM         STAGE [us]    N"));
    CHECK(has(text, "\n  309 nginx        drv-ip     1009 4.001"));
    CHECK(has(text, "\n19550 evil\\x1b[31m drv-ip        7 5.003"));
    CHECK_FALSE(has(text, "\x1b"));
}

TEST_CASE("a process name of any bytes does not stop the report") {
    auto summary = rx_summary();
    summary.stages.push_back({"drv-ip", {{"comm", "\xff\xc3\xbc"}}, repeated(4001, 1009)});
    summary.stages.push_back({"drv-ip", {{"comm", "nginx"}}, repeated(5003, 7)});
    CHECK(has(text_of(summary), "\n\\xff\\xc3\\xbc drv-ip     1009 4.001"));
}

TEST_CASE("of many groups the largest are shown, and the others together") {
    auto summary = rx_summary();
    for (std::int64_t pid = 101; pid < 124; ++pid) {
        summary.stages.push_back({"drv-ip", {{"pid", pid}, {"comm", "nginx"}}, repeated(4001, 7)});
        summary.stages.push_back({"tcp-app", {{"pid", pid}, {"comm", "nginx"}}, repeated(pid * 1000, 3)});
    }
    summary.stages.push_back({"drv-ip", {{"other", true}}, repeated(31'013, 11)});
    const auto text = text_of(summary, {.top = 5});
    CHECK(has(text, "\n 105 nginx drv-ip       7   4.001"));
    CHECK_FALSE(has(text, "\n 106 nginx"));
    // 18 groups of 7, and 11 that had found no room: (18 * 7 * 4.001 + 11 * 31.013) / 137.
    CHECK(has(text, "\nrest -     drv-ip     137   6.170"));
    // The mean of 106 to 123.
    CHECK(has(text, "\nrest -     tcp-app     54 114.500"));
    CHECK(has(text, "rest: 19 smaller groups together\n"));
    CHECK_FALSE(has(text_of(summary, {.top = 24}), "rest"));
    CHECK_FALSE(has(text_of(summary, {.top = 0}), "PID"));
}

TEST_CASE("groups of recordings with different keys have a column for each") {
    auto summary = rx_summary();
    summary.stages.push_back({"drv-ip", {{"pid", std::int64_t{101}}, {"comm", "nginx"}}, repeated(4001, 7)});
    summary.stages.push_back({"drv-ip", {{"container", "web"}, {"comm", "redis"}}, repeated(5003, 3)});
    const auto text = text_of(summary);
    CHECK(has(text, "PID COMM  CONTAINER STAGE [us]"));
    CHECK(has(text, "\n101 nginx -         drv-ip "));
    CHECK(has(text, "\n  - redis web       drv-ip "));
}

TEST_CASE("latencies below a second keep to the width of a page") {
    Summary summary = rx_summary();
    summary.stages.clear();
    for (const char* name : {"rx", "tcpip_rx", "epoll", "wait", "read", "app", "tx", "total"}) {
        summary.stages.push_back({name, {}, repeated(987'654'321, 1'000'003)});
    }
    const auto text = text_of(summary);
    CHECK(has(text, " 987654.3 14.3%\n"));
    for (const auto line : stapgen::base::split(text, '\n')) {
        if (line.find(" seen = ") == std::string_view::npos) CHECK(line.size() <= 80);
    }
    CHECK(has(text_of(summary, {.screen = {.width = 100}}), " 987654.32 14.3%\n"));
}

TEST_CASE("where no terminal breaks lines, a table that is wider than a page anyway has decimals, up to 100 columns") {
    const auto with_name = [](std::size_t length, std::size_t width) {
        Summary summary = rx_summary();
        for (const char c : {'a', 'b'})
            summary.stages.push_back({"drv-ip", {{"container", std::string(length, c)}}, repeated(4'654'321, 7)});
        return text_of(summary, {.screen = {.width = width}});
    };
    CHECK(has(with_name(30, 0), " 4654.3 "));
    CHECK(has(with_name(37, 0), " 4654.321 "));
    CHECK(has(with_name(47, 0), " 4654.32 "));
    CHECK(has(with_name(90, 0), " 4654.321 "));
    CHECK(has(with_name(37, 80), " 4654.3 "));
}

TEST_CASE("a wider terminal has sums and the interval of each percentile, in the table or below it") {
    const auto wide = text_of(rx_summary(), {.percentiles = {{"50", 50}, {"99", 99}}, .screen = {.width = 131}});
    CHECK(has(wide,
              "STAGE [us]    N    MEAN    SD     MIN     P50             [95 %]   P99         [95 %]     MAX SHARE SUM "
              "[ms]\n"
              "drv-ip     1009   4.001 0.000   4.001   4.001     [4.001, 4.001] 4.001 [4.001, 4.001]   4.001  8.9%    "
              "4.037\n"
              "tcp-app     367 112.447 0.000 112.447 112.447 [112.447, 112.447]     -              - 112.447 91.1%   "
              "41.268\n"));
    const auto medium = text_of(rx_summary(), {.percentiles = {{"50", 50}, {"99", 99}}, .screen = {.width = 90}});
    CHECK_FALSE(has(medium, "[95 %]"));
    CHECK(has(medium,
              "95 % INTERVAL [us]                P50            P99\n"
              "drv-ip                 [4.001, 4.001] [4.001, 4.001]\n"
              "tcp-app            [112.447, 112.447]              -\n"));
    CHECK_FALSE(has(text_of(rx_summary()), "95 %"));
}

TEST_CASE("where the tail comes from, and the slowest records with whose they were") {
    auto summary = rx_summary();
    Breakdown breakdown("rx", {"drv-ip", "tcp-app"}, 10);
    for (int i = 0; i < 1009; ++i)
        breakdown.add(60'000, std::vector<std::int64_t>{7000, 53'000});
    for (std::int64_t i = 0; i < 3; ++i) {
        const std::vector<std::int64_t> stages{11'000, 1'489'000 + i};
        REQUIRE(breakdown.add(1'500'000 + i, stages));
        breakdown.keep({1'500'000 + i,
                        summary.start_epoch_ns.value() + i * 1'000'000,
                        {i == 1 ? std::nullopt : std::optional<std::int64_t>(stages[0]), stages[1]},
                        {{"pid", 19550},
                         {"comm",
                          "fire\x1b"
                          "fox"}}});
    }
    summary.breakdowns = {breakdown, Breakdown("tx", {"qdisc"}, 10)};
    const auto text = text_of(summary, {.slowest = 2});
    CHECK(has(text,
              "\nThe 3 slowest of 1,012 rx records (above the p99 of 60.0 us) take 25 times as\n"
              "long as the others (1.50 ms against 60.0 us on average); tcp-app causes over 99\n"
              "% of the extra time: 99 % of the slow records' time, 88 % of the rest's.\n"
              "\n"
              "The slowest rx records [us]:\n"
              "#1 1500.002, 13:06:40.002000, rx, pid 19550, comm fire\\x1bfox\n"
              "     +0.000  drv-ip     11.000 |#                                              |\n"
              "    +11.000  tcp-app  1489.002 |###############################################|\n"
              "#2 1500.001, 13:06:40.001000, rx, pid 19550, comm fire\\x1bfox\n"
              "     +0.000  tcp-app  1489.001 |###############################################|\n"
              "\n"));
    CHECK_FALSE(has(text, "tx"));
    CHECK_FALSE(has(text_of(summary, {.slowest = 0}), "slowest rx records"));
    CHECK(has(text_of(summary, {.screen = {.width = 40}}),
              "#1 1500.002, 13:06:40.002000, rx, pid\n    19550, comm fire"));
}

TEST_CASE("means without percentiles say how far off they may be, and notes are shown") {
    auto summary = rx_summary();
    CHECK_FALSE(has(text_of(summary), "means only"));
    summary.averages = {{"rx", true, 1013, 4001.4, 503}, {"events", false, 7, 1.5, 0}};
    summary.notes = {{"requests above 100 us are cut off"}};
    const auto text = text_of(summary);
    CHECK(has(text,
              "NAME      N     MEAN    ERROR\n"
              "rx     1013 4.001 us 0.503 us\n"
              "events    7    1.500    0.000\n"
              "means only: "));
    CHECK(has(text, "note: requests above 100 us are cut off\n"));
}

TEST_CASE("a coarse clock is reported") {
    auto summary = rx_summary();
    summary.resolution_ns = 1000;
    CHECK(has(text_of(summary), "\ntimes are multiples of 1.00 us\n"));
}

TEST_CASE("a series has a row for each block of time, of the total where there is one") {
    auto summary = rx_summary();
    summary.series = Series(2);
    for (int i = 0; i < 7; ++i)
        summary.series.at(1795180000000000000).stages[1].add(112'447);
    summary.series.at(1795180001000000003).stages[0].add(4001);
    CHECK_FALSE(has(text_of(summary), "blocks"));
    CHECK(has(text_of(summary, {.series = true}),
              "In blocks of 1.00 s:\n"
              "TIME                      STAGE [us] N     P50 P99     MAX\n"
              "2026-11-20 13:06:40 +0000 drv-ip     0       -   -       -\n"
              "2026-11-20 13:06:40 +0000 tcp-app    7 112.447   - 112.447\n"
              "2026-11-20 13:06:41 +0000 drv-ip     1       -   -   4.001\n"
              "2026-11-20 13:06:41 +0000 tcp-app    0       -   -       -\n"));
    summary.stages[1].name = "total";
    CHECK_FALSE(has(text_of(summary, {.series = true}), "+0000 drv-ip"));
    summary.start_epoch_ns.reset();
    CHECK(has(text_of(summary, {.series = true}), "1795180001.000000 s total"));
}

TEST_CASE("what the script counts beside the packets is shown beside the account, not in it") {
    auto summary = rx_summary();
    CHECK_FALSE(has(text_of(summary), "beside them"));
    summary.accounting.other = {{"acks", 9}, {"retransmits", 0}};
    CHECK(has(text_of(summary), "1 lost (evicted 1)\nbeside them (acks 9)\n"));
}

TEST_CASE("kinds of records whose directions have one name keep their own stages and slowest records") {
    Summary summary = rx_summary();
    for (const std::int64_t ns : {1009, 2003}) {
        Breakdown breakdown("", {ns == 1009 ? "ip" : "tcp"}, 3);
        const std::vector<std::int64_t> stages{ns};
        if (breakdown.add(ns, stages)) breakdown.keep({ns, {}, {ns}, {}});
        summary.breakdowns.push_back(breakdown);
    }
    const auto text = text_of(summary);
    CHECK(has(text, "#1 1.009\n    +0.000  ip  1.009 |"));
    CHECK(has(text, "#1 2.003\n    +0.000  tcp  2.003 |"));
    CHECK_FALSE(has(text, "#2"));
}
