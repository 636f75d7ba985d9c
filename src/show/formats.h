// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <span>
#include <string_view>

#include "show/model/format.h"

namespace stapgen::show {

/// All formats; the first is the default.
std::span<const Format> formats();

/// The one of that name.
const Format& format_named(std::string_view name);

}  // namespace stapgen::show
