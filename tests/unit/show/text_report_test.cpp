// SPDX-License-Identifier: GPL-2.0-or-later
// What a text leaves out, and how wide it is: what it looks like is in tests/golden/formats.
#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>

#include "base/text.h"
#include "has.h"
#include "repeated.h"
#include "written.h"

using namespace stapgen::summaries;
using stapgen::show::Options;

namespace {

std::string text_of(const Summary& summary, const Options& options = {}) {
    setenv("TZ", "UTC", 1);
    tzset();
    return written("table", {summary}, options);
}

Summary rx_summary() {
    Summary summary;
    summary.recipe = "rx-latency";
    summary.stages = {{"drv-ip", {}, repeated(4001, 1009)}, {"tcp-app", {}, repeated(112'447, 367)}};
    summary.accounting = {1020, 1009, 7, {{"no-read", 3}}, {{"evicted", 1}}, {}, true};
    return summary;
}

/// Two intervals, the second of them without drops.
Summary drop_summary() {
    Summary summary;
    summary.recipe = "dropwatch";
    summary.counts_drops = true;
    summary.intervals = {{0, 1795180000000000000, 1795180005000000000}, {1, 1795180005000000000, 1795180010000000000}};
    Drop drop;
    drop.place.symbol = "icmp_rcv";
    drop.reason.name = "NO_SOCKET";
    drop.count = 17;
    summary.drops = {drop};
    summary.accounting = {17, 17, 0, {}, {}, {}, true};
    return summary;
}

/// One record a second, of 1, 2, 3, ... us, but none in the third second.
Summary rising_summary(int seconds) {
    auto summary = rx_summary();
    summary.stages = {{"drv-ip", {}, {}}, {"udp-app", {}, {}}};
    summary.series = Series(2);
    summary.series.coarsen(Series::second_ns);
    for (int i = 0; i < seconds; ++i) {
        if (i == 2) continue;
        summary.stages[0].stats.add((i + 1) * 1000);
        summary.series.at(i * std::int64_t{1'000'000'000}).stages[0].add((i + 1) * 1000);
    }
    return summary;
}

}  // namespace

TEST_CASE("latencies below a second keep to the width of a page") {
    Summary summary = rx_summary();
    summary.stages.clear();
    for (const char* name : {"rx", "tcpip_rx", "epoll", "wait", "read", "app", "tx", "total"}) {
        summary.stages.push_back({name, {}, repeated(987'654'321, 1'000'003)});
    }
    const auto text = text_of(summary);
    CHECK(has(text, " 987654.3 "));
    for (const auto line : stapgen::base::split(text, '\n')) {
        if (line.find(" seen = ") == std::string_view::npos) CHECK(line.size() <= 80);
    }
    CHECK(has(text_of(summary, {.screen = {.width = 100}}), " 987654.32 "));
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

TEST_CASE("colours change no width") {
    Options options;
    options.screen.width = 100;
    const auto plain = text_of(rx_summary(), options);
    CHECK_FALSE(has(plain, "\x1b"));
    options.screen.colours = true;
    auto text = text_of(rx_summary(), options);
    CHECK(has(text, "\x1b"));
    for (auto at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b'))
        text.erase(at, text.find('m', at) + 1 - at);
    CHECK(text == plain);
}

TEST_CASE("a trend is there from four blocks on, on a terminal with UTF-8 that has room for it") {
    const auto trend_of = [](const Summary& summary, std::size_t width, bool utf8 = true) {
        const auto text = text_of(summary, {.screen = {.width = width, .utf8 = utf8}});
        const auto begin = text.find("TREND: mean per ");
        return begin == std::string::npos ? "" : text.substr(begin + 16, text.find_first_of(";,", begin) - begin - 16);
    };
    CHECK(trend_of(rising_summary(3), 100) == "");
    CHECK(trend_of(rising_summary(8), 100) == "1.00 s");
    // 64 blocks are 32 parts.
    CHECK(trend_of(rising_summary(64), 200) == "2.00 s");
    CHECK(trend_of(rising_summary(64), 200, false) == "");
    CHECK(trend_of(rising_summary(8), 50) == "");
    CHECK(trend_of(rising_summary(8), 0, false) == "");
    // A second without records is a blank: U+2581, U+2582, a blank, U+2584 to U+2588.
    const auto text = text_of(rising_summary(8), {.screen = {.width = 100, .utf8 = true}});
    CHECK(has(text, " \xe2\x96\x81\xe2\x96\x82 \xe2\x96\x84\xe2\x96\x85\xe2\x96\x86\xe2\x96\x87\xe2\x96\x88\n"));
    auto joined = rising_summary(8);
    auto later = rising_summary(8).series;
    later.shift(3600 * std::int64_t{1'000'000'000});
    joined.series += later;
    CHECK(has(text_of(joined, {.screen = {.width = 100, .utf8 = true}}), "of 2 recordings"));
}

TEST_CASE("intervals and total of drops can be had one without the other, and advice is with the total") {
    auto summary = drop_summary();
    summary.intervals.resize(1);
    const auto first = text_of(summary, {.interval = 0});
    CHECK(has(first, "13:06:45"));
    CHECK(has(first, "NO_SOCKET *"));
    for (const char* of_whole : {"13:06:50", "total", "seen =", "NO_SOCKET in icmp_rcv:"})
        CHECK_FALSE(has(first, of_whole));
    auto second = drop_summary();
    second.intervals = {second.intervals[1]};
    second.drops.clear();
    CHECK(has(text_of(second, {.interval = 1}), "no drops"));
    const auto last = text_of(drop_summary(), {.intervals_shown = true});
    CHECK_FALSE(has(last, "13:06:45"));
    for (const char* of_whole : {"total", "seen =", "NO_SOCKET in icmp_rcv:"})
        CHECK(has(last, of_whole));
}
