// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "../show/repeated.h"
#include "live/keys.h"
#include "live/lines.h"

using namespace stapgen::live;

namespace {

std::string text_of(const Line& line) {
    std::string text;
    for (const auto& span : line)
        text += span.text;
    return text;
}

Shown long_body() {
    return {.top = 10, .page = 20, .lines = 57, .stages = {"drv-ip", "ip-tcp", "tcp-app"}, .stage = "ip-tcp"};
}

Key letter(char c) {
    return {Special::none, c};
}

Key special(Special key) {
    return {key, 0};
}

}  // namespace

TEST_CASE("text is cut by characters, and says so") {
    CHECK(cut("tcp-app", 7) == "tcp-app");
    CHECK(cut("tcp-app", 6) == "tcp-a~");
    CHECK(cut("tcp-app", 1) == "~");
    CHECK(cut("tcp-app", 0).empty());
    CHECK(cut("\u2581\u2582\u2583", 2) == "\u2581~");
    CHECK(width_of("\u2581\u2582\u2583") == 3);
    CHECK(padded("\u2581", 3, true) == "  \u2581");
    CHECK(text_of(cut(Line{{"abc", {}}, {"def", {}}}, 5)) == "abcd~");
    CHECK(text_of(cut(Line{{"abc", {}}, {"def", {}}}, 3)) == "ab~");
    CHECK(text_of(cut(Line{{"abc", {}}, {"def", {}}}, 6)) == "abcdef");
}

TEST_CASE("a scale goes from one power of ten to another, labels where their number begins") {
    const Scale scale(1'500, 2'000'000, 24);
    CHECK(scale.lowest(0) == 1'000);
    CHECK(scale.lowest(6) == 10'000);
    CHECK(scale.lowest(12) == 100'000);
    CHECK(scale.lowest(18) == 1'000'000);
    CHECK(scale.labels(true) == "1us   10us  100us 1ms");
    CHECK(scale.labels(false) == "1k    10k   100k  1M");
    CHECK(Scale(0, 0, 10).labels(false) == "1");
    CHECK(Scale(1, std::int64_t{1} << 62, 12).labels(true).size() <= 12);
}

TEST_CASE("a distribution shows each value where it is, the highest column full, a single one still seen") {
    auto stats = repeated(1'000, 1009);
    stats += repeated(12'000, 503);
    stats += repeated(999'999, 1);
    const Scale scale(1'000, 999'999, 6);
    CHECK(distribution(stats, scale, false) == "@ =  .");
    CHECK(distribution(stats, scale, true) == "\u2588 \u2584  \u2581");
}

TEST_CASE("what is below or above all bins is at the ends of a distribution") {
    auto stats = repeated(-17, 3);
    stats += repeated(std::int64_t{1} << 50, 3);
    const Scale scale(-17, std::int64_t{1} << 50, 5);
    CHECK(distribution(stats, scale, false) == "@   @");
}

TEST_CASE("a table cuts texts, then leaves out columns in the order that they say") {
    using stapgen::show::Kind, stapgen::show::In;
    stapgen::show::Table table{"",
                               {{"COMM", Kind::head},
                                {.name = "N", .leaves = 2},
                                {.name = "P50", .leaves = 1},
                                {"PATH", Kind::text, In::page}}};
    table.rows = {{{"a-long-command"}, {"1009"}, {"4.00 us"}, {"tcp_recvmsg"}}, {{"b"}, {"7"}, {"-"}, {}}};
    const auto at = [&](std::size_t width) {
        const auto lines = fitted(table, width);
        for (const auto& row : lines.rows)
            CHECK(width_of(row) == width_of(lines.heading));
        return text_of(lines.heading) + "\n" + text_of(lines.rows[0]) + "\n" + text_of(lines.rows[1]) + "\n";
    };
    CHECK(at(40) ==
          "COMM               N     P50 PATH       \n"
          "a-long-command 1,009 4.00 us tcp_recvmsg\n"
          "b                  7       -            \n");
    CHECK(at(33) == at(28));
    CHECK(at(28) ==
          "COMM               N     P50\n"
          "a-long-command 1,009 4.00 us\n"
          "b                  7       -\n");
    CHECK(at(22) ==
          "COMM         N     P50\n"
          "a-long-~ 1,009 4.00 us\n"
          "b            7       -\n");
    CHECK(at(21) ==
          "COMM               N\n"
          "a-long-command 1,009\n"
          "b                  7\n");
    CHECK(at(9) ==
          "COMM     \n"
          "a-long-c~\n"
          "b        \n");
    CHECK(at(2) ==
          "C~\n"
          "a~\n"
          "b~\n");
}

TEST_CASE("keys sort, pause, choose the window and the stage") {
    State state;
    CHECK(press(state, letter('s'), {}) == Action::none);
    CHECK(state.order == Order::p50);
    press(state, letter('5'), {});
    CHECK(state.order == Order::name);
    press(state, letter('s'), {});
    CHECK(state.order == Order::n);

    press(state, letter(' '), {});
    CHECK(state.paused);
    press(state, letter('p'), {});
    CHECK(!state.paused);

    press(state, letter('w'), {});
    CHECK(state.window == Window::interval);
    press(state, letter('w'), {});
    CHECK_MESSAGE(state.window == Window::run, "there is no window since r yet");
    CHECK(press(state, letter('r'), {}) == Action::begin_window);
    CHECK(state.window == Window::since);
    press(state, letter('w'), {});
    CHECK(state.window == Window::run);
    Shown with_since;
    with_since.has_since = true;
    press(state, letter('w'), with_since);
    press(state, letter('w'), with_since);
    CHECK(state.window == Window::since);

    press(state, special(Special::right), long_body());
    CHECK(state.stage == "tcp-app");
    press(state, special(Special::left), long_body());
    CHECK(state.stage == "drv-ip");
    auto at_the_end = long_body();
    at_the_end.stage = "tcp-app";
    press(state, letter('\t'), at_the_end);
    CHECK(state.stage == "drv-ip");
    press(state, letter('\t'), {});
    CHECK_MESSAGE(state.stage == "drv-ip", "where there are no stages none is chosen");

    CHECK(press(state, letter('q'), {}) == Action::quit);
    CHECK(press(state, letter('x'), {}) == Action::none);
}

TEST_CASE("another window ends a pause") {
    State state;
    state.paused = true;
    press(state, letter('w'), {});
    CHECK(!state.paused);
    state.paused = true;
    press(state, letter('r'), {});
    CHECK(!state.paused);
}

TEST_CASE("keys scroll, and no further than there are lines") {
    State state;
    const auto after = [&](Special key, std::size_t top) {
        auto shown = long_body();
        shown.top = top;
        press(state, special(key), shown);
        return state.top;
    };
    CHECK(after(Special::down, 10) == 11);
    CHECK(after(Special::up, 10) == 9);
    CHECK(after(Special::up, 0) == 0);
    CHECK(after(Special::page_down, 10) == 30);
    CHECK(after(Special::page_down, 30) == 37);
    CHECK(after(Special::page_up, 30) == 10);
    CHECK(after(Special::page_up, 3) == 0);
    CHECK(after(Special::end, 0) == 37);
    CHECK(after(Special::home, 37) == 0);
    press(state, letter('j'), long_body());
    CHECK(state.top == 11);
    press(state, letter('k'), long_body());
    CHECK(state.top == 9);
    auto short_body = long_body();
    short_body.lines = 3;
    press(state, special(Special::end), short_body);
    CHECK(state.top == 0);
}

TEST_CASE("any key but those that scroll leaves the help, and does nothing else") {
    State state;
    state.top = 7;
    press(state, letter('?'), {});
    CHECK(state.help);
    CHECK(state.top == 0);
    press(state, special(Special::down), long_body());
    CHECK(state.help);
    CHECK(press(state, letter('q'), long_body()) == Action::none);
    CHECK(!state.help);
}
