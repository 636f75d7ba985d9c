#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "live/keys.h"
#include "live/line.h"
#include "live/scene.h"

namespace stapgen::live {

/// A part of the screen below its head.
struct Section {
    std::string title;  ///< empty: none
    Line heading;       ///< empty: none
    std::vector<Line> rows;
};

/// Stages and values of which groups can be shown: those that have any, as the recipe orders them.
std::vector<std::string> stages_of(const analyze::Summary& summary);

/// The stage that groups are of: the chosen one, else `total`, else the one that takes the most time, else the first
/// value; empty where there is none.
std::string stage_of(const analyze::Summary& summary, const State& state);

/// Stages, values, counts, drops, groups and calls, each where there are any, in lines that are not wider than that.
std::vector<Section> sections_of(const Scene& scene, const State& state, std::size_t width, bool utf8);

}  // namespace stapgen::live
