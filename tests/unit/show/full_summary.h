// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "repeated.h"
#include "unit/rows.h"

/// A summary with something of everything that a format has to write, with names that need care.
inline stapgen::summaries::Summary full_summary() {
    using namespace stapgen;
    using namespace stapgen::summaries;
    constexpr std::int64_t start = 1795180000000000000;
    Summary summary;
    summary.recipe = "rx-latency";
    table::Histogram driver, app;
    Breakdown breakdown("rx", {"drv-ip", "tcp-app"}, 3);
    summary.series = Series(2, 1);
    for (int i = 0; i < 1009; ++i) {
        const std::int64_t slow = i % 101 == 0 ? 1'700'000 : 0;
        const std::vector<std::int64_t> stages{997 + 13 * i, 90'007 + 31 * i + slow};
        driver.add(stages[0]);
        app.add(stages[1]);
        auto& block = summary.series.at(start + i * std::int64_t{3'000'000});
        block.stages[0].add(stages[0]);
        block.stages[1].add(stages[1]);
        if (i % 29 == 0) block.values[0].add(3);
        if (breakdown.add(stages[0] + stages[1], stages)) {
            breakdown.keep({stages[0] + stages[1], start + i, {stages[0], stages[1]}, {{"comm", "=HYPER(\"x\")"}}});
        }
    }
    app.add(table::Histogram::largest_binned + 7);
    const auto group = [](std::int64_t pid, std::string comm) {
        return Group{{"pid", pid}, {"comm", std::move(comm)}};
    };
    const auto evil = group(19550, "=cmd|' /C calc'!A0");
    const auto odd = group(309, "a\"b,\\c\n\xff");
    summary.stages = {{"drv-ip", {}, driver},
                      {"tcp-app", {}, app},
                      {"udp-app", {}, {}},
                      {"drv-ip", evil, repeated(4001, 503)},
                      {"tcp-app", evil, repeated(101'009, 499)},
                      {"drv-ip", odd, repeated(5003, 401)},
                      {"drv-ip", group(17, "@x"), repeated(5003, 7)},
                      {"drv-ip", {{"other", true}}, repeated(6007, 98)}};
    summary.values = {{"epoll_events", {}, repeated(3, 37)}};
    summary.breakdowns = {breakdown};
    summary.averages = {{"rx", true, 1013, 4001.4, 503}, {"events", false, 7, 1.5, 0}};
    summary.average_intervals = {{19, 1013, {{"rx", true, 1013, 4001.4, 503}}}};
    summary.resolution_ns = 1000;
    summary.notes = {{"requests above 100 us are cut off"}};
    Drop drop;
    drop.time = start + 5'000'000'007;
    drop.place.address = 0xffffffff9a000001;
    drop.reason.number = 3;
    drop.count = 17;
    drop.place.symbol = "icmp_rcv";
    drop.place.offset = 0x1f;
    drop.reason.name = "NO_SOCKET";
    auto later = drop;
    later.interval = 1;
    later.time.reset();
    later.count = 11;
    Drop unnamed;
    unnamed.time = drop.time;
    unnamed.place.address = 0xffffffffc0000003;
    unnamed.place.module = "nf_tables";
    unnamed.count = 5;
    summary.drops = {drop, unnamed, later};
    summary.intervals = {{0, start, start + 5'000'000'007}, {1, start + 5'000'000'007, std::nullopt}};
    summary.accounting = {1023, 1009, 7, {{"no-read", 3}}, {{"evicted", 1}}, {{"acks", 211}}, true};
    summary.input = {1013, 1012, 1, {{4, stapgen::decode::Flaw::field_count}}};
    summary.transport = {5, 11, 13};
    summary.transport.skipped_by = {{"tcp_v4_rcv", 3}, {"return of tcp_recvmsg", 1}};
    summary.counters = {{"TcpExt.ListenOverflows", "full", 19}, {"TcpExt.New", "unknown here", std::nullopt}};
    summary.start_epoch_ns = start;
    summary.end_epoch_ns = start + 6'000'000'000;
    return summary;
}
