// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "render/standalone.h"

namespace stapgen::render {

/// The names in all kernel.trace("...") that the script uses, by itself or through the tapsets. Nothing where the text
/// does not show: a name with a wildcard or from a macro's argument, or a probe of SystemTap's own tapset, which may
/// stand for any tracepoint.
std::optional<std::set<std::string>> tracepoints_of(std::string_view script, const std::vector<TapsetFile>& tapsets);

}  // namespace stapgen::render
