// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/keys.h"

#include <algorithm>
#include <array>

namespace stapgen::live {

namespace {

constexpr std::array orders{Order::n, Order::p50, Order::p99, Order::max, Order::name};

void scroll(State& state, const Shown& shown, Special key) {
    const auto last = shown.lines - std::min(shown.lines, shown.page);
    const auto lines = key == Special::up || key == Special::down ? 1 : shown.page;
    if (key == Special::up || key == Special::page_up) state.top = shown.top - std::min(shown.top, lines);
    if (key == Special::down || key == Special::page_down) state.top = std::min(last, shown.top + lines);
    if (key == Special::home) state.top = 0;
    if (key == Special::end) state.top = last;
}

/// To the next stage, or to the one before; round at the ends.
void choose_stage(State& state, const Shown& shown, bool next) {
    const auto& stages = shown.stages;
    if (stages.empty()) return;
    const auto at = static_cast<std::size_t>(std::ranges::find(stages, shown.stage) - stages.begin());
    state.stage = stages[(at + (next ? 1 : stages.size() - 1)) % stages.size()];
}

void choose_window(State& state, const Shown& shown) {
    state.paused = false;
    if (state.window == Window::run) {
        state.window = Window::interval;
    } else if (state.window == Window::interval && shown.has_since) {
        state.window = Window::since;
    } else {
        state.window = Window::run;
    }
}

Action press_letter(State& state, char letter, const Shown& shown) {
    if (letter >= '1' && letter <= '5') state.order = orders[static_cast<std::size_t>(letter - '1')];
    if (letter == 's') state.order = orders[(static_cast<std::size_t>(state.order) + 1) % orders.size()];
    if (letter == ' ' || letter == 'p') state.paused = !state.paused;
    if (letter == 'w') choose_window(state, shown);
    if (letter == '\t') choose_stage(state, shown, true);
    if (letter == 'k') scroll(state, shown, Special::up);
    if (letter == 'j') scroll(state, shown, Special::down);
    if (letter == '?' || letter == 'h') {
        state.help = true;
        state.top = 0;
    }
    if (letter == 'r') {
        state.window = Window::since;
        state.paused = false;
        return Action::begin_window;
    }
    return letter == 'q' ? Action::quit : Action::none;
}

}  // namespace

std::string name_of(Order order) {
    constexpr std::array<const char*, orders.size()> names{"n", "p50", "p99", "max", "name"};
    return names[static_cast<std::size_t>(order)];
}

std::string name_of(Window window) {
    constexpr std::array<const char*, 3> names{"run", "interval", "since r"};
    return names[static_cast<std::size_t>(window)];
}

Action press(State& state, Key key, const Shown& shown) {
    const bool scrolls = key.special != Special::none && key.special != Special::left && key.special != Special::right;
    if (state.help && !scrolls && key.letter != 'j' && key.letter != 'k') {
        state.help = false;
        state.top = 0;
        return Action::none;
    }
    if (key.special == Special::none) return press_letter(state, key.letter, shown);
    if (scrolls) {
        scroll(state, shown, key.special);
    } else {
        choose_stage(state, shown, key.special == Special::right);
    }
    return Action::none;
}

std::vector<KeyHelp> key_help() {
    return {{"q", "end the measurement; its report follows (Ctrl-C does the same)"},
            {"space, p", "pause the screen, and resume; the measurement continues (w and r also resume)"},
            {"s, 1 to 5", "sort groups by n, p50, p99, max or name"},
            {"left, right", "groups of the previous or the next stage (also Tab)"},
            {"w", "the whole run, the last interval (-i, else one second), or since r was pressed"},
            {"r", "start a new window now; the report still covers the whole run"},
            {"up, down", "one line (also k, j); PgUp, PgDn, Home, End"},
            {"Ctrl-Z", "suspend; the measurement continues and may lose records"},
            {"?", "this page; any key leaves it"}};
}

}  // namespace stapgen::live
