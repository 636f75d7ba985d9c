#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "live/keys.h"

namespace stapgen::live {

/// What there is to show, at one moment.
struct Scene {
    std::string title;              ///< recipe and filters
    analyze::Summary shown;         ///< of the window
    Window window = Window::run;    ///< which that is
    std::int64_t window_ns = 0;     ///< its length so far
    bool window_is_there = true;    ///< false: no interval is over yet
    bool has_since = false;         ///< there is a window since `r`
    std::int64_t run_ns = 0;        ///< since the measurement began
    analyze::Accounting account;    ///< of the whole run
    bool account_reported = false;  ///< the script has said what it filtered and lost
    bool ending = false;            ///< the end was asked for
    std::string notice;             ///< what was said last beside the measurement; empty: nothing
    bool hide_benign = false;       ///< of drops
};

}  // namespace stapgen::live
