// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/result.h"

namespace stapgen::base {

/// JSON from outside. Discarded if it is none. Error (bad_input): it is over a limit of JSON in base/limits.h. Objects
/// have no order: nlohmann::ordered_json takes a time that is quadratic in its keys.
Result<nlohmann::json> parse_json(std::string_view text);
/// That error alone; what is no JSON is none.
Result<void> check_json(std::string_view text);

}  // namespace stapgen::base
