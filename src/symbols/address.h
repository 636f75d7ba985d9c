#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace stapgen::symbols {

/// A hex address as people write it: with or without 0x, in upper or lower case, blanks around it. Error (bad_input):
/// it is not one.
base::Result<std::uint64_t> parse_address(std::string_view word);

}  // namespace stapgen::symbols
