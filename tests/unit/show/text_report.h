// SPDX-License-Identifier: GPL-2.0-or-later
// Reports as text, and what they are of.
#pragma once

#include <cstdlib>
#include <ctime>

#include "repeated.h"
#include "written.h"

namespace text_report {

using namespace stapgen::rows;
using stapgen::show::Options;

inline std::string text_of(const Summary& summary, const Options& options = {}) {
    setenv("TZ", "UTC", 1);
    tzset();
    return written("table", {summary}, options);
}

inline Summary rx_summary() {
    Summary summary;
    summary.recipe = "rx-latency";
    summary.stages = {{"drv-ip", {}, repeated(4001, 1009)}, {"tcp-app", {}, repeated(112'447, 367)}};
    summary.accounting = {1020, 1009, 7, {{"no-read", 3}}, {{"evicted", 1}}, {}, true};
    summary.start_epoch_ns = 1795180000000000000;
    summary.end_epoch_ns = 1795180010000000000;
    return summary;
}

inline Drop drop_at(std::int64_t interval, std::uint64_t address, std::int64_t count) {
    Drop drop;
    drop.interval = interval;
    drop.place.address = address;
    drop.count = count;
    return drop;
}

inline Summary drop_summary() {
    Summary summary;
    summary.recipe = "dropwatch";
    summary.counts_drops = true;
    summary.intervals = {{1795180000000000000, 1795180005000000000},
                         {1795180005000000000, 1795180010000000000},
                         {1795180010000000000, 1795180012000000000}};
    summary.drops = {drop_at(0, 0xffffffff9a000001, 17), drop_at(0, 0xffffffff9a000002, 5),
                     drop_at(2, 0xffffffff9a000001, 11)};
    summary.drops[0].place.symbol = summary.drops[2].place.symbol = "icmp_rcv";
    summary.drops[0].place.offset = summary.drops[2].place.offset = 0x1f;
    summary.drops[0].reason.number = summary.drops[2].reason.number = 3;
    summary.drops[0].reason.name = summary.drops[2].reason.name = "NO_SOCKET";
    summary.drops[1].place.module = "nf_tables";
    summary.drops[1].reason.number = 7;
    summary.accounting = {33, 33, 0, {}, {}, {}, true};
    return summary;
}

}  // namespace text_report
