#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace stapgen::symbols::hex {

/// What a hex digit of either case stands for; -1 for any other character.
inline constexpr auto values = [] {
    std::array<std::int8_t, 256> out{};
    out.fill(-1);
    for (int i = 0; i < 10; ++i)
        out['0' + i] = static_cast<std::int8_t>(i);
    for (int i = 0; i < 6; ++i) {
        out['a' + i] = static_cast<std::int8_t>(10 + i);
        out['A' + i] = static_cast<std::int8_t>(10 + i);
    }
    return out;
}();

inline int value_of(char c) {
    return values[static_cast<unsigned char>(c)];
}

inline bool is_digit(char c) {
    return value_of(c) >= 0;
}

inline constexpr std::uint64_t each = 0x0101010101010101;  ///< times a byte: eight of it
inline constexpr std::uint64_t high_bits = each * 0x80;

/// Eight bytes as one number, the first byte lowest.
inline std::uint64_t load(const char* at) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);
    return std::endian::native == std::endian::little ? bytes : __builtin_bswap64(bytes);
}

/// The number that the eight hex digits at `at` are; false if they are not all digits.
inline bool read_eight(const char* at, std::uint64_t& value) {
    const auto bytes = load(at);
    const auto lower = bytes | each * 0x20;
    // No sum carries into the next byte as long as all are ASCII.
    const auto decimal = (bytes + each * (0x80 - '0')) & ~(bytes + each * (0x80 - ':'));
    const auto letter = (lower + each * (0x80 - 'a')) & ~(lower + each * (0x80 - 'g'));
    if (((decimal | letter) & ~bytes & high_bits) != high_bits) return false;
    auto digits = (bytes & each * 0x0f) + (bytes >> 6 & each) * 9;
    digits = __builtin_bswap64(digits);
    digits = (digits | digits >> 4) & 0x00ff00ff00ff00ff;
    digits = (digits | digits >> 8) & 0x0000ffff0000ffff;
    value = (digits | digits >> 16) & 0xffffffff;
    return true;
}

}  // namespace stapgen::symbols::hex
