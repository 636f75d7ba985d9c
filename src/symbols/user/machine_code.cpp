// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/user/machine_code.h"

#include <cstdint>
#include <cstring>

namespace stapgen::symbols::user {

namespace {

#if defined(__aarch64__)

bool is_call(std::string_view code) {
    std::uint32_t word = 0;
    std::memcpy(&word, code.data() + code.size() - sizeof word, sizeof word);
    const bool is_bl = word >> 26U == 0x25;
    const bool is_blr = (word & 0xfffffc1fU) == 0xd63f0000U || (word & 0xfefff800U) == 0xd63f0800U;  // also signed
    return is_bl || is_blr;
}

#else

/// How long the operand of ff /2 is: the byte with the register and how it is addressed, an index, a distance.
std::size_t operand_bytes(std::uint8_t mode) {
    const unsigned kind = mode >> 6U, base = mode & 7U;
    if (kind == 3) return 1;
    const std::size_t index = base == 4 ? 1 : 0;
    if (kind == 0) return 1 + index + (base == 5 ? 4 : 0);
    return 1 + index + (kind == 1 ? 1 : 4);
}

bool is_call(std::string_view code) {
    const auto byte = [&](std::size_t from_end) { return static_cast<std::uint8_t>(code[code.size() - from_end]); };
    constexpr std::size_t direct = 5, longest = 7;
    if (byte(direct) == 0xe8) return true;
    for (std::size_t size = 2; size <= longest; ++size) {
        if (byte(size) != 0xff) continue;
        const auto mode = byte(size - 1);
        if ((mode >> 3U & 7U) == 2 && 1 + operand_bytes(mode) == size) return true;
    }
    return false;
}

#endif

}  // namespace

bool ends_with_call(std::string_view code) {
    return code.size() == longest_call && is_call(code);
}

}  // namespace stapgen::symbols::user
