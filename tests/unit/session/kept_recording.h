// SPDX-License-Identifier: GPL-2.0-or-later
// Kept recordings, made of what is planted in them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>

#include "recording/facts.h"

/// 40 connections, a packet of each every 397 ms for 35 s, one connection behind the other; the condition held in the
/// second before 31 s.
struct KeptRecording {
    static constexpr std::int64_t second = 1'000'000'000, start_epoch = 1795904767'000'000'000,
                                  start_monotonic = 40'009'000'000'007;

    int connections = 40;
    std::int64_t every_ns = 397'000'003;
    bool is_ip6 = false;
    stapgen::recording::Kept kept{"tcp-app.run-queue p99 > 3ms over 1s", "4.10 ms", start_epoch + 31 * second,
                                  30 * second, 4 * second};
    /// How much longer than usual a packet of that connection at that moment, in s, waits for a CPU, or takes from IP
    /// to TCP.
    std::function<std::int64_t(int connection, double at)> more_run_queue = [](int, double) { return 0; },
                                                           more_ip_tcp = [](int, double) { return 0; };

    [[nodiscard]] std::string text() const {
        stapgen::recording::Header header;
        header.run_id = "17";
        header.setup.recipe = "rx-latency";
        header.setup.host = "web1";
        header.setup.kept = kept;
        auto text = stapgen::recording::header_line(header);
        text +=
            "stapgen\t5\trx-latency\trx\ttime:time\tcpu:int\tpid:int\ttid:int\tcomm:text\tlocal:endpoint\t"
            "remote:endpoint\tdev:text\tbytes:int\tdrv-ip:stage\tip-tcp:stage\ttcp-app:stage\ttcp-app.wake-up:stage\t"
            "tcp-app.run-queue:stage\ttcp-app.recv-call:stage\n";
        text += fmt::format("ready\t{}\t{}\n", start_epoch, start_monotonic);
        std::int64_t n = 0;
        std::uint64_t random = 7;
        const auto jitter = [&](std::int64_t most) {
            random = random * 6364136223846793005 + 1442695040888963407;
            return static_cast<std::int64_t>(random >> 33) % most;
        };
        const auto* const low = is_ip6 ? "20010db800000000.1" : "0.ffff0a000001";
        for (int connection = 0; connection < connections; ++connection) {
            // The first ones begin last.
            for (auto at = jitter(every_ns); at < 35 * second; at += every_ns, ++n) {
                const auto s = static_cast<double>(at) / 1e9;
                const auto run_queue = 2'003 + jitter(401) + more_run_queue(connection, s);
                const auto ip_tcp = 907 + jitter(211) + more_ip_tcp(connection, s);
                const auto wake_up = 8'009 + jitter(1'709), recv_call = 3'001 + jitter(503);
                text += fmt::format("rx\t{}\t{}\t231\t{}\tworker\t{}:6379\t{}:{}\teth0\t97\t{}\t{}\t{}\t{}\t{}\t{}\n",
                                    start_monotonic + at, connection % 4, 233 + connection % 4, low,
                                    is_ip6 ? "20010db800000000.7" : "0.ffff0a000007", 50'000 + connection,
                                    1'103 + jitter(307), ip_tcp, wake_up + run_queue + recv_call, wake_up, run_queue,
                                    recv_call);
            }
        }
        text += fmt::format("end\t{}\tseen={}\treported={}\n", start_epoch + 35 * second, n, n);
        return text + stapgen::recording::trailer_line({.end_epoch_ns = start_epoch + 35 * second, .outcome = {}});
    }
};
