// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace stapgen::base {

/// The GNU build-id among ELF notes, hexadecimal; empty if there is none.
std::string parse_build_id(std::string_view notes);

}  // namespace stapgen::base
