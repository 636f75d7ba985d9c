#include "report/text_report.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>
#include <sstream>

#include "base/text.h"
#include "repeated.h"

using namespace stapgen::analyze;
using stapgen::report::TextOptions;

namespace {

std::string text_of(const Summary& summary, const TextOptions& options = {}) {
    setenv("TZ", "UTC", 1);
    tzset();
    std::ostringstream out;
    stapgen::report::write_text(out, summary, options);
    return out.str();
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

Summary rx_summary() {
    Summary summary;
    summary.recipe = "rx-latency";
    summary.stages = {{"drv-ip", {}, repeated(4001, 1009)}, {"tcp-app", {}, repeated(112'447, 367)}};
    summary.accounting = {1020, 1009, 7, {{"no-read", 3}}, {{"evicted", 1}}, {}, true};
    summary.start_epoch_ns = 1795180000000000000;
    summary.end_epoch_ns = 1795180010000000000;
    return summary;
}

Drop drop_at(std::int64_t interval, std::uint64_t address, std::int64_t count) {
    Drop drop;
    drop.interval = interval;
    drop.address = address;
    drop.count = count;
    return drop;
}

Summary drop_summary() {
    Summary summary;
    summary.recipe = "dropwatch";
    summary.counts_drops = true;
    summary.intervals = {{1795180000000000000, 1795180005000000000},
                         {1795180005000000000, 1795180010000000000},
                         {1795180010000000000, 1795180012000000000}};
    summary.drops = {drop_at(0, 0xffffffff9a000001, 17), drop_at(0, 0xffffffff9a000002, 5),
                     drop_at(2, 0xffffffff9a000001, 11)};
    summary.drops[0].symbol = summary.drops[2].symbol = "icmp_rcv";
    summary.drops[0].offset = summary.drops[2].offset = 0x1f;
    summary.drops[0].reason = summary.drops[2].reason = 3;
    summary.drops[0].reason_name = summary.drops[2].reason_name = "NO_SOCKET";
    summary.drops[1].module = "nf_tables";
    summary.drops[1].reason = 7;
    summary.accounting = {33, 33, 0, {}, {}, {}, true};
    return summary;
}

}  // namespace

TEST_CASE("stages are a table in microseconds, and what n does not allow is a dash with its reason") {
    CHECK(text_of(rx_summary()) ==
          "rx-latency, 2026-11-20 13:06:40 +0000, for 10.0 s\n"
          "\n"
          "STAGE [us]    N    MEAN     P50     P90   P99 P99.9     MAX\n"
          "drv-ip     1009   4.001   4.001   4.001 4.001     -   4.001\n"
          "tcp-app     367 112.447 112.447 112.447     -     - 112.447\n"
          "\n"
          "-: too few values to tell; P99 needs 368, P99.9 needs 3688\n"
          "\n"
          "1020 seen = 1009 reported + 7 filtered + 3 incomplete (no-read 3) + 1 lost (evicted 1)\n"
          "WARNING: 1 of 1020 seen were lost\n");
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
    CHECK_FALSE(has(text, "too few"));
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
    CHECK(has(text, "WARNING: the input stops without its last line"));
    CHECK(has(text, "WARNING: SystemTap skipped 5 probes\n"));
    CHECK(has(text, "WARNING: 11 probes ended in an error\n"));
    CHECK(has(text, "WARNING: the way to user space was full 13 times\n"));
    summary.accounting.seen = 1000;
    text = text_of(summary);
    CHECK(has(text, "+ 0 lost - 16 unaccounted\n"));
}

TEST_CASE("lines that were not understood are told by number and reason") {
    auto summary = rx_summary();
    summary.input = {1013, 1011, 2, {{4, stapgen::decode::Flaw::field_count}, {9, stapgen::decode::Flaw::bad_number}}};
    CHECK(has(text_of(summary),
              "2 of 1013 lines not understood: line 4 (wrong number of fields), line 9 (not a number, or out of "
              "range)\n"));
    summary.input.unrecognised = 7;
    CHECK(has(text_of(summary), "out of range), ...\n"));
}

TEST_CASE("values have no unit and no decimals where they are whole") {
    auto summary = rx_summary();
    summary.values = {{"epoll_events", {}, repeated(3, 37)}};
    CHECK(has(text_of(summary),
              "VALUE         N MEAN P50 P90 P99 P99.9 MAX\n"
              "epoll_events 37 3.00   3   3   -     -   3\n"));
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

TEST_CASE("of many groups the largest are shown and the others counted") {
    auto summary = rx_summary();
    for (std::int64_t pid = 101; pid < 124; ++pid) {
        summary.stages.push_back({"drv-ip", {{"pid", pid}}, repeated(4001, 7)});
    }
    const auto text = text_of(summary, {.max_groups = 5});
    CHECK(has(text, "\n105 drv-ip"));
    CHECK_FALSE(has(text, "\n106 drv-ip"));
    CHECK(has(text, "and 18 smaller groups\n"));
}

TEST_CASE("latencies below a second keep to the width of a page") {
    Summary summary = rx_summary();
    summary.stages.clear();
    for (const char* name : {"rx", "tcpip_rx", "epoll", "wait", "read", "app", "tx", "total"}) {
        summary.stages.push_back({name, {}, repeated(987'654'321, 1'000'003)});
    }
    const auto text = text_of(summary);
    CHECK(has(text, " 987654.32\n"));
    for (const auto line : stapgen::base::split(text, '\n')) {
        if (line.starts_with("wait")) CHECK(line.size() <= 80);
    }
}

TEST_CASE("drops are shown by interval, an empty one as such, and in total") {
    CHECK(text_of(drop_summary()) ==
          "dropwatch\n"
          "\n"
          "2026-11-20 13:06:45 +0000\n"
          "COUNT LOCATION                       REASON\n"
          "   17 icmp_rcv+0x1f                  NO_SOCKET\n"
          "    5 0xffffffff9a000002 [nf_tables] 7\n"
          "\n"
          "2026-11-20 13:06:50 +0000\n"
          "no drops\n"
          "\n"
          "2026-11-20 13:06:52 +0000\n"
          "COUNT LOCATION      REASON\n"
          "   11 icmp_rcv+0x1f NO_SOCKET\n"
          "\n"
          "total: 33 drops at 2 places and reasons\n"
          "COUNT LOCATION                       REASON\n"
          "   28 icmp_rcv+0x1f                  NO_SOCKET\n"
          "    5 0xffffffff9a000002 [nf_tables] 7\n"
          "\n"
          "33 seen = 33 reported + 0 filtered + 0 incomplete + 0 lost\n");
}

TEST_CASE("intervals and total of drops can be had one without the other") {
    const auto live = text_of(drop_summary(), {.total = false});
    CHECK(has(live, "no drops\n"));
    CHECK_FALSE(has(live, "total"));
    CHECK_FALSE(has(live, "seen ="));
    const auto final_part = text_of(drop_summary(), {.intervals = false});
    CHECK_FALSE(has(final_part, "no drops"));
    CHECK(has(final_part, "   28 icmp_rcv+0x1f "));
}

TEST_CASE("a run without any drop says so") {
    auto summary = drop_summary();
    summary.drops.clear();
    CHECK(has(text_of(summary, {.intervals = false}), "no drops in all\n"));
}

TEST_CASE("what the script counts beside the packets is shown beside the account, not in it") {
    auto summary = rx_summary();
    CHECK_FALSE(has(text_of(summary), "beside them"));
    summary.accounting.other = {{"acks", 9}, {"retransmits", 0}};
    CHECK(has(text_of(summary), "1 lost (evicted 1)\nbeside them (acks 9)\n"));
}

TEST_CASE("counters of the kernel that rose stand below the drops, and nothing where none did") {
    auto summary = drop_summary();
    summary.counters = {{"TcpExt.ListenDrops", "lost", 0}, {"TcpExt.New", "unknown", std::nullopt}};
    CHECK_FALSE(has(text_of(summary), "Losses without"));
    summary.counters.push_back({"TcpExt.ListenOverflows", "the accept queue was full", 17});
    CHECK(has(text_of(summary, {.intervals = false}),
              "\n\nLosses without a drop event, by the kernel's counters of this network namespace:\n"
              "COUNT COUNTER                WHAT\n"
              "   17 TcpExt.ListenOverflows the accept queue was full\n\n33 seen = 33 reported"));
}
