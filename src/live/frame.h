// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "live/keys.h"
#include "live/lines.h"
#include "rows/results.h"

namespace stapgen::live {

/// What there is to show, at one moment.
struct Scene {
    std::string title;              ///< recipe and filters
    rows::Results shown;            ///< of the window
    Window window = Window::run;    ///< which that is
    std::int64_t window_ns = 0;     ///< its length so far
    bool window_is_there = true;    ///< false: no interval is over yet
    bool has_since = false;         ///< there is a window since `r`
    std::int64_t run_ns = 0;        ///< since the measurement began
    rows::Results run;              ///< its account
    bool account_reported = false;  ///< the script has said what it filtered and lost
    bool ending = false;            ///< the end was asked for
    std::string notice;             ///< what was said last beside the measurement; empty: nothing
};

/// A screen, and what a key must know of it.
struct Frame {
    std::vector<Line> lines;  ///< at most as many as there are rows, none wider than the screen
    Shown shown;
};

/// Draws the scene as the user has chosen. Pure. `utf8`: else the lines are ASCII.
Frame frame(const Scene& scene, const State& state, Size size, bool utf8);

/// A part of the screen below its head.
struct Section {
    std::string title;  ///< empty: none
    Line heading;       ///< empty: none
    std::vector<Line> rows;
};

/// Stages and values that have groups, in the recipe's order.
std::vector<std::string> stages_of(const rows::Results& results);

/// The stage that groups are of: the chosen one, else `total`, else the one that takes the most time, else the first
/// value; empty where there is none.
std::string stage_of(const rows::Results& results, const State& state);

/// Stages, values, counts, drops, groups and calls, each where there are any, in lines that are not wider than that.
std::vector<Section> sections_of(const Scene& scene, const State& state, std::size_t width, bool utf8);

}  // namespace stapgen::live
