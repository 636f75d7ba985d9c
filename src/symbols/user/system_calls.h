// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string_view>

namespace stapgen::symbols::user {

/// "read"; empty: none of that number is known for this architecture, as `uname -m` names it.
std::string_view name_of_system_call(std::string_view architecture, std::int64_t number);

}  // namespace stapgen::symbols::user
