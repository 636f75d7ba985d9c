// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "render/standalone.h"

namespace stapgen::render {

/// The definitions of headers, in the order of inclusion, that this text calls by name, directly or through each other,
/// each with the comment above it. Found by their names: whatever they define begins with "stapgen_" or "STAPGEN_", and
/// precedes its first use.
std::string used_c_of(const std::vector<const TapsetFile*>& headers, std::string_view text);

}  // namespace stapgen::render
