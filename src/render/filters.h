// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "render/standalone.h"

namespace stapgen::render {

/// Filters are all in a standalone script, or none: what stands in the tapsets between "// ---- filters" and
/// "// ---- end of filters". The values become those that the script's globals begin with.
std::vector<TapsetFile> with_filters(std::vector<TapsetFile> tapsets,
                                     const std::map<std::string, std::string>& globals);

/// With nothing of them, unless the script itself names one of their globals: a recipe of a user's own may.
std::vector<TapsetFile> without_filters(std::string_view script, std::vector<TapsetFile> tapsets);

}  // namespace stapgen::render
