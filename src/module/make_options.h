#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "recipe/recipe.h"

namespace stapgen::module {

struct MakeOptions {
    std::string release, symbols, stap = "stap";
    std::string debuginfo = "auto";  ///< auto, never or require
    bool all_modules = false;
    std::vector<std::string> modules, stap_options, without_workarounds;
    bool guru = false;  ///< the user agrees to a script that has C of its own
    bool dry_run = false;
    bool cost = false;             ///< measure what the probes cost
    std::optional<double> budget;  ///< what they may cost: overhead::parse_budget()
    recipe::Arguments arguments;
    std::optional<std::chrono::milliseconds> interval;
    bool aggregate = false;
    bool filters = true;  ///< the script heeds those that it can: false in a standalone one that none is asked of
};

/// Where a live view is shown and neither the user nor the recipe says how often to report: often enough for a person
/// to see what the script counts.
inline constexpr std::chrono::seconds live_interval{1};

}  // namespace stapgen::module
