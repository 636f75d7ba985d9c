// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <string>

namespace stapgen::disguises {

/// What base::as_utf8() makes of a text of which at most `piece` bytes can be read at once.
std::string as_utf8_in_pieces(std::string bytes, std::size_t piece);

}  // namespace stapgen::disguises
