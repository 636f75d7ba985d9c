// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "has.h"
#include "text_report.h"

using namespace text_report;

TEST_CASE("drops are shown by interval, an empty one as such, and in total") {
    CHECK(text_of(drop_summary()) ==
          "dropwatch\n"
          "\n"
          "2026-11-20 13:06:45 +0000\n"
          "COUNT LOCATION                       REASON\n"
          "   17 icmp_rcv+0x1f                  NO_SOCKET *\n"
          "    5 0xffffffff9a000002 [nf_tables] 7\n"
          "\n"
          "2026-11-20 13:06:50 +0000\n"
          "no drops\n"
          "\n"
          "2026-11-20 13:06:52 +0000\n"
          "COUNT LOCATION      REASON\n"
          "   11 icmp_rcv+0x1f NO_SOCKET *\n"
          "\n"
          "total: 33 drops at 2 places and reasons\n"
          "COUNT LOCATION                       REASON\n"
          "   28 icmp_rcv+0x1f                  NO_SOCKET *\n"
          "    5 0xffffffff9a000002 [nf_tables] 7\n"
          "*: part of normal operation, no packet is lost by it\n"
          "\n"
          "NO_SOCKET in icmp_rcv: an echo reply; a ping with a raw socket got its own copy\n"
          "\n"
          "33 seen = 33 reported + 0 filtered + 0 incomplete + 0 lost\n");
}

TEST_CASE("benign drops that are not shown are counted, in each table and in the total") {
    const auto text = text_of(drop_summary(), {.hide_benign = true});
    CHECK_FALSE(has(text, "icmp_rcv"));
    CHECK_FALSE(has(text, "no packet is lost"));
    CHECK(has(text,
              "2026-11-20 13:06:45 +0000\n"
              "COUNT LOCATION                       REASON\n"
              "    5 0xffffffff9a000002 [nf_tables] 7\n"
              "17 drops at 1 benign place not shown\n"
              "\n"));
    CHECK(has(text, "2026-11-20 13:06:52 +0000\n11 drops at 1 benign place not shown\n\n"));
    CHECK(has(text,
              "total: 33 drops at 2 places and reasons\n"
              "COUNT LOCATION                       REASON\n"
              "    5 0xffffffff9a000002 [nf_tables] 7\n"
              "28 drops at 1 benign place not shown\n"
              "\n"));
}

TEST_CASE("advice is for the eight reasons with the most drops, and an interval alone has only marks") {
    auto summary = drop_summary();
    const std::vector<const char*> reasons = {"NOMEM",    "XDP",        "TCP_CSUM",  "UDP_CSUM",  "ICMP_CSUM",
                                              "IP_INHDR", "TAP_FILTER", "OTHERHOST", "FULL_RING", "PROTO_MEM"};
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        auto drop = drop_at(2, 0xffffffff9a000100 + i, 101 - static_cast<std::int64_t>(i));
        drop.reason.number = 5;
        drop.reason.name = reasons[i];
        summary.drops.push_back(drop);
    }
    const auto text = text_of(summary);
    CHECK(has(text, "\n\nNOMEM: out of memory; dmesg;"));
    CHECK(has(text, "\nOTHERHOST: "));
    CHECK_FALSE(has(text, "\nFULL_RING: "));
    CHECK_FALSE(has(text, "NO_SOCKET in icmp_rcv"));
    const auto live = text_of(drop_summary(), {.interval = 0});
    CHECK(has(live, "*: part of normal operation"));
    CHECK_FALSE(has(live, "NO_SOCKET in icmp_rcv"));
}

TEST_CASE("intervals and total of drops can be had one without the other") {
    auto second = drop_summary();
    second.intervals = {second.intervals[1]};
    second.drops.clear();
    const auto live = text_of(second, {.interval = 1});
    CHECK(has(live, "2026-11-20 13:06:50 +0000\nno drops\n"));
    CHECK_FALSE(has(live, "total"));
    CHECK_FALSE(has(live, "seen ="));
    const auto final_part = text_of(drop_summary(), {.intervals_shown = true});
    CHECK_FALSE(has(final_part, "no drops"));
    CHECK(has(final_part, "   28 icmp_rcv+0x1f "));
}

TEST_CASE("a run without any drop says so") {
    auto summary = drop_summary();
    summary.drops.clear();
    CHECK(has(text_of(summary, {.intervals_shown = true}), "total: no drops\n"));
}

TEST_CASE("counters of the kernel that rose stand below the drops, and nothing where none did") {
    auto summary = drop_summary();
    summary.counters = {{"TcpExt.ListenDrops", "lost", 0}, {"TcpExt.New", "unknown", std::nullopt}};
    CHECK_FALSE(has(text_of(summary), "Losses without"));
    summary.counters.push_back({"TcpExt.ListenOverflows", "the accept queue was full", 17});
    CHECK(has(text_of(summary, {.intervals_shown = true}),
              "\n\nLosses without a drop event, by the kernel's counters of this network namespace:\n"
              "COUNT COUNTER                WHAT\n"
              "   17 TcpExt.ListenOverflows the accept queue was full\n\n33 seen = 33 reported"));
}
