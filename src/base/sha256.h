#pragma once

#include <string>
#include <string_view>

namespace stapgen::base {

/// As sha256sum prints it: 64 hexadecimal digits.
std::string sha256(std::string_view text);

}  // namespace stapgen::base
