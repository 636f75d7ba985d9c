#pragma once

#include <string>
#include <vector>

#include "recipe/parameters.h"

namespace stapgen::module {

/// As typed.
struct MakeOptions {
    std::string release, symbols, stap = "stap";
    std::string debuginfo = "auto";  ///< auto, never or require
    bool all_modules = false;
    std::vector<std::string> modules, stap_options, without_workarounds;
    bool guru = false;  ///< the user agrees to a script that has C of its own
    bool dry_run = false;
    bool cost = false;   ///< measure what the probes cost
    std::string budget;  ///< what they may cost
    recipe::Arguments arguments;
    std::string interval;
    bool aggregate = false;
};

/// Where a live view is shown and neither the user nor the recipe says how often to report: often enough for a person
/// to see what the script counts.
inline constexpr auto live_interval = "1";

}  // namespace stapgen::module
