#pragma once

#include <vector>

#include "live/keys.h"
#include "live/line.h"
#include "live/scene.h"

namespace stapgen::live {

/// A screen, and what a key must know of it.
struct Frame {
    std::vector<Line> lines;  ///< at most as many as there are rows, none wider than the screen
    Shown shown;
};

/// Draws the scene as the user has chosen. Pure. `utf8`: else the lines are ASCII.
Frame frame(const Scene& scene, const State& state, Size size, bool utf8);

}  // namespace stapgen::live
