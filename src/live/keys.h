// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace stapgen::live {

/// By what the rows of groups are sorted, the largest first, names in their own order. Drops and counts have only n and
/// name: any other is n for them.
enum class Order { n, p50, p99, max, name };
/// "n", "p50", ...
std::string name_of(Order order);

/// Of what time the tables are.
enum class Window {
    run,       ///< since the measurement began
    interval,  ///< the last that is over
    since,     ///< since `r` was pressed
};
std::string name_of(Window window);

/// What the user has chosen.
struct State {
    Order order = Order::n;
    Window window = Window::run;
    bool paused = false;
    bool help = false;
    std::size_t top = 0;               ///< the first line of the body that is shown
    std::optional<std::string> stage;  ///< that the groups are of; nothing: the one that says most
};

/// What a key must know of the screen on which it was pressed.
struct Shown {
    std::size_t top = 0, page = 1;    ///< the first line of the body, and how many are shown
    std::size_t lines = 0;            ///< of the whole body
    std::vector<std::string> stages;  ///< whose groups can be
    std::string stage;                ///< the one they are of
    bool has_since = false;           ///< there is a window since `r`
};

/// A key that is no letter.
enum class Special { none, up, down, left, right, page_up, page_down, home, end };
struct Key {
    Special special = Special::none;
    char letter = 0;  ///< 0: none that means something
};

/// What cannot be done by a change of the state.
enum class Action { none, quit, begin_window };

Action press(State& state, Key key, const Shown& shown);

/// Each key and what it does, for the help.
struct KeyHelp {
    std::string keys, what;
};
std::vector<KeyHelp> key_help();

}  // namespace stapgen::live
