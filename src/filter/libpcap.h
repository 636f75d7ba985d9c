// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace stapgen::filter {

struct Instruction {
    std::uint16_t code = 0;
    std::uint8_t jump_true = 0, jump_false = 0;
    std::uint32_t k = 0;
};

/// libpcap's compiler, for Ethernet. The error is what it says. Optimized, 250 hosts take it a second, and 1,000
/// minutes.
tl::expected<std::vector<Instruction>, std::string> libpcap_compile(const std::string& expression, bool optimize);

}  // namespace stapgen::filter
