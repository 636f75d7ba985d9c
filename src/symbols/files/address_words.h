// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/text.h"

namespace stapgen::symbols {

namespace hex {

/// Values of hex digits of either case; -1 for any other character.
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

}  // namespace hex

/// A word of a text that is an address: as many hex digits as are asked for, with or without 0x.
struct AddressWord {
    std::size_t begin, end;  ///< 0x included
    std::uint64_t address;
};

/// The address that the run of `digits` hex digits at `run` is, if it is a word of its own.
inline bool read_address(std::string_view text, std::size_t run, std::size_t digits, AddressWord& word) {
    word.begin = run;
    word.end = run + digits;
    if (word.end < text.size() && base::is_word_character(text[word.end])) return false;
    if (run >= 2 && (text[run - 1] == 'x' || text[run - 1] == 'X') && text[run - 2] == '0') {
        word.begin -= 2;
    }
    if (word.begin > 0 && base::is_word_character(text[word.begin - 1])) return false;
    word.address = 0;
    for (auto at = run; at < word.end; at += 8) {
        std::uint64_t eight = 0;
        hex::read_eight(text.data() + at, eight);
        word.address = word.address << 32 | eight;
    }
    return true;
}

/// Calls `found` for each address word. A run of n digits covers exactly one of any n bytes in a
/// row that are n apart: only those are looked at.
template <class Found>
void for_each_address(std::string_view text, std::size_t digits, Found found) {
    std::size_t passed = 0;
    for (auto at = digits - 1; at < text.size();) {
        if (!hex::is_digit(text[at])) {
            at += digits;
            continue;
        }
        auto begin = at;
        while (begin > passed && hex::is_digit(text[begin - 1]))
            --begin;
        auto stop = at + 1;
        while (stop < text.size() && hex::is_digit(text[stop]))
            ++stop;
        AddressWord word{};
        if (stop - begin == digits && read_address(text, begin, digits, word)) found(word);
        passed = stop;
        at = stop + digits;
    }
}

}  // namespace stapgen::symbols
