#pragma once

#include <span>
#include <string_view>

#include "report/model/format.h"

namespace stapgen::report {

/// All formats; the first is the default.
std::span<const Format> formats();

/// The one of that name, which is one of formats().
const Format& format_named(std::string_view name);

}  // namespace stapgen::report
