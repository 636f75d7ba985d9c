// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "live/keys.h"
#include "live/lines.h"
#include "rows/results.h"
#include "show/model/sections.h"

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
    std::vector<std::string> sentences{};
    Line heading{};  ///< empty: none
    std::vector<Line> rows{};
};

/// Stages and values that have groups, in the recipe's order.
std::vector<std::string> stages_of(const rows::Results& results);

/// The stage that groups are of: the chosen one, else `total`, else the one that takes the most time, else the first
/// value; empty where there is none.
std::string stage_of(const rows::Results& results, const State& state);

/// Where sections are drawn.
struct View {
    const Scene& scene;
    const State& state;
    std::size_t width;
    bool utf8;
    std::vector<Section>& sections;
};

namespace section = show::section;

// The sections of a measurement.
/// How many there are.
void draw(const View& view, section::Calls section);
void draw(const View& view, section::Stages section);
void draw(const View& view, section::Drops section);
void draw(const View& view, section::Counts section);
/// Those of one stage.
void draw(const View& view, section::Groups section);
void draw(const View& view, const show::Sheet& sheet);
template <show::HasSheet S>
void draw(const View& view, S /*section*/) {
    draw(view, S::sheet(view.scene.shown));
}
constexpr show::NotHere draw(const View& /*view*/, section::Tail /*section*/) {
    return {"its sentence takes lines that groups need; the report has it"};
}
constexpr show::NotHere draw(const View& /*view*/, section::Causes /*section*/) {
    return {"its sentences are lines of a report; `stapgen why` and the page have them"};
}
constexpr show::NotHere draw(const View& /*view*/, section::OverTime /*section*/) {
    return {"the window is of one time; the report has the course"};
}
constexpr show::NotHere draw(const View& /*view*/, section::Distribution /*section*/) {
    return {"it is behind each stage"};
}
constexpr show::NotHere draw(const View& /*view*/, section::Slowest /*section*/) {
    return {"a record takes a line for each stage; the report has them"};
}
constexpr show::NotHere draw(const View& /*view*/, section::Account /*section*/) {
    return {"it is in the head, which does not scroll"};
}

/// In lines that are not wider than that, but for sentences.
std::vector<Section> sections_of(const Scene& scene, const State& state, std::size_t width, bool utf8);

}  // namespace stapgen::live
