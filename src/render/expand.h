// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

#include "render/parts.h"

namespace stapgen::render {

/// The script with those macros put in that it would not be shorter with: what is used once, the choice of --debuginfo,
/// and what is one string. Their parts are left out of `parts`.
std::string expand_macros(std::string script, std::vector<Part>& parts);

}  // namespace stapgen::render
