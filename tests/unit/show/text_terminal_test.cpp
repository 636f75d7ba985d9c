// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "base/text.h"
#include "has.h"
#include "text_report.h"

using namespace text_report;

namespace {

std::string without_colours(std::string text) {
    for (auto at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b'))
        text.erase(at, text.find('m', at) + 1 - at);
    return text;
}

Options on_terminal(std::size_t width) {
    Options options;
    options.screen.width = width;
    return options;
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

TEST_CASE("what is lost is red, and colours change no width") {
    auto options = on_terminal(100);
    const auto plain = text_of(rx_summary(), options);
    CHECK_FALSE(has(plain, "\x1b"));
    options.screen.colours = true;
    const auto text = text_of(rx_summary(), options);
    CHECK(has(text, "\x1b[1;31mWARNING: 1 of 1020 seen were lost\x1b[0m\n"));
    CHECK(has(text, "\x1b[1;31m1020 seen = 1009 reported"));
    CHECK(without_colours(text) == plain);
}

TEST_CASE("the stage that takes most of the extra time is bold in the table and in the sentence") {
    auto summary = rx_summary();
    Breakdown breakdown("", {"drv-ip", "tcp-app"}, 1);
    for (int i = 0; i < 1009; ++i) {
        const std::int64_t slow = i % 200 == 0 ? 900'000 : 1000;
        breakdown.add(4000 + slow, std::vector<std::int64_t>{4000, slow});
    }
    summary.breakdowns = {breakdown};
    auto options = on_terminal(100);
    const auto plain = text_of(summary, options);
    options.screen.colours = true;
    const auto text = text_of(summary, options);
    CHECK(has(text, "\n\x1b[1mtcp-app   \x1b[0m "));
    CHECK(has(text, "; \x1b[1mtcp-app\x1b[0m causes"));
    CHECK_FALSE(has(text, "\x1b[1mdrv-ip"));
    CHECK(without_colours(text) == plain);
}

TEST_CASE("where the terminal is narrow columns leave, with a note, or rows become records") {
    const auto text = text_of(rx_summary(), on_terminal(54));
    CHECK(has(text, "not shown, as the terminal is narrow: MEAN\n"));
    CHECK(has(text, "STAGE [us]    N   P50   P90 P99 P99.9   MAX SHARE\n"));
    for (const auto line : stapgen::base::split(text, '\n'))
        CHECK(line.size() <= 54);
    auto summary = drop_summary();
    summary.drops[0].place.symbol = summary.drops[2].place.symbol = "a_function_with_a_name_of_40_characters_";
    const auto drops = text_of(summary, on_terminal(60));
    CHECK(has(drops,
              "LOCATION a_function_with_a_name_of_40_characters_+0x1f\n"
              "  COUNT 28, REASON NO_SOCKET\n"));
}

TEST_CASE("a terminal with UTF-8 has a trend of each stage where there are four blocks or more") {
    auto options = on_terminal(100);
    options.screen.utf8 = true;
    CHECK_FALSE(has(text_of(rising_summary(3), options), "TREND"));
    const auto text = text_of(rising_summary(8), options);
    CHECK(has(text, " TREND\n"));
    // U+2581, U+2582, a blank, U+2584 to U+2588.
    CHECK(has(text, " \xe2\x96\x81\xe2\x96\x82 \xe2\x96\x84\xe2\x96\x85\xe2\x96\x86\xe2\x96\x87\xe2\x96\x88\n"));
    CHECK(has(text, "TREND: mean per 1.00 s; each row is from 0 to its own maximum\n"));
    auto joined = rising_summary(8);
    auto later = rising_summary(8).series;
    later.shift(3600 * std::int64_t{1'000'000'000});
    joined.series += later;
    CHECK(has(text_of(joined, options), "maximum; of 2 recordings in order of time,"));
    // 64 blocks are 32 parts.
    CHECK(has(text_of(rising_summary(64), on_terminal(200)), "TREND") == false);
    options.screen.width = 200;
    CHECK(has(text_of(rising_summary(64), options), "TREND: mean per 2.00 s;"));
    options.screen.width = 50;
    CHECK_FALSE(has(text_of(rising_summary(8), options), "TREND"));
    CHECK_FALSE(has(text_of(rising_summary(8)), "TREND"));
}

TEST_CASE("quiet is the answer, the tables of the whole, and what is missing") {
    auto summary = rx_summary();
    summary.notes = {{"a note"}};
    summary.input = {1013, 1012, 1, {{4, stapgen::decode::Flaw::field_count}}};
    Options options;
    options.quiet = true;
    CHECK(text_of(summary, options) ==
          "rx-latency, 2026-11-20 13:06:40 +0000, for 10.0 s\n"
          "\n"
          "STAGE [us]    N    MEAN    SD     MIN     P50     P90   P99 P99.9     MAX SHARE\n"
          "drv-ip     1009   4.001 0.000   4.001   4.001   4.001 4.001     -   4.001  8.9%\n"
          "tcp-app     367 112.447 0.000 112.447 112.447 112.447     -     - 112.447 91.1%\n"
          "\n"
          "WARNING: 1 of 1020 seen were lost\n"
          "WARNING: 1 of 1013 lines not understood\n");
}
