// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace stapgen::symbols::user {

/// Bytes of the longest call.
inline constexpr std::size_t longest_call = 8;

/// Whether a call may end here, of x86-64 or of arm64: what follows is a return address then. These are the
/// `longest_call` bytes before it.
bool ends_with_call(std::string_view code);

}  // namespace stapgen::symbols::user
