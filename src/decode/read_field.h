// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>

#include "decode/record.h"

/// The fields of records, read off text that ends in '\n' without a search for the end of a field or of the line first.
/// All functions return where the field ends, null if it is none. Eight bytes are looked at at a time, as one number
/// whose lowest byte is the first one. Inlined by force: `at` has to stay in a register.
namespace stapgen::decode::fields {

/// Bytes after the '\n' of a line that are read with it and must exist; their values do not matter.
inline constexpr std::size_t padding = 8;

[[gnu::always_inline]] inline bool at_line_end(const char* at) {
    return *at == '\n' || (*at == '\r' && at[1] == '\n');
}

[[gnu::always_inline]] inline bool at_border(const char* at) {
    return *at == '\t' || at_line_end(at);
}

[[gnu::always_inline]] inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

[[gnu::always_inline]] inline bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

inline constexpr std::uint64_t each = 0x0101010101010101;  ///< times a byte: eight of it
inline constexpr std::uint64_t high_bits = each * 0x80;

[[gnu::always_inline]] inline std::uint64_t load(const char* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

/// `marks` has the highest bit of some bytes: how many bytes are before the first of them.
[[gnu::always_inline]] inline unsigned bytes_before(std::uint64_t marks) {
    return static_cast<unsigned>(std::countr_zero(marks)) / 8;
}

/// Marks the bytes that are no digits, of `digits` = text ^ "00000000"; behind the first one it may be wrong.
[[gnu::always_inline]] inline std::uint64_t mark_others(std::uint64_t digits) {
    return ((digits + each * (0x80 - 10)) | digits) & high_bits;
}

/// The number that eight digits are, the first one in the lowest byte.
[[gnu::always_inline]] inline std::uint64_t eight_digits(std::uint64_t digits) {
    digits = digits * 10 + (digits >> 8);  // pairs, in every second byte
    return ((digits & 0x000000ff000000ff) * (100 + (std::uint64_t{1000000} << 32)) +
            ((digits >> 16) & 0x000000ff000000ff) * (1 + (std::uint64_t{10000} << 32))) >>
           32;
}

/// With a sign, or longer than others are.
[[gnu::noinline]] inline const char* read_any_number(const char* at, std::int64_t& number) {
    const char* end = at + (*at == '-' ? 1 : 0);
    while (is_digit(*end))
        ++end;
    return std::from_chars(at, end, number).ec == std::errc{} && end != at ? end : nullptr;
}

/// One to seven digits; reads only the eight bytes from `at` on.
[[gnu::always_inline]] inline const char* read_short_number(const char* at, std::int64_t& number) {
    const std::uint64_t digits = load(at) ^ (each * '0'), others = mark_others(digits);
    const auto count = bytes_before(others);
    if (others == 0 || count == 0) return nullptr;
    number = static_cast<std::int64_t>(eight_digits(digits << (64 - 8 * count)));
    return at + count;
}

[[gnu::always_inline]] inline const char* read_number(const char* at, std::int64_t& number) {
    const std::uint64_t digits = load(at) ^ (each * '0'), others = mark_others(digits);
    const auto count = bytes_before(others);
    if (others != 0 && count != 0) [[likely]] {
        number = static_cast<std::int64_t>(eight_digits(digits << (64 - 8 * count)));
        return at + count;
    }
    if (others != 0) return read_any_number(at, number);
    constexpr std::uint64_t powers[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000};
    const std::uint64_t more = load(at + 8) ^ (each * '0'), others_behind = mark_others(more);
    if (others_behind == 0) return read_any_number(at, number);
    const auto count_behind = bytes_before(others_behind);
    // Two shifts: one of 64 bits is none.
    number = static_cast<std::int64_t>(eight_digits(digits) * powers[count_behind] +
                                       eight_digits(more << (56 - 8 * count_behind) << 8));
    return at + 8 + count_behind;
}

[[gnu::always_inline]] inline const char* read_number(const char* at, std::int64_t& number, std::int64_t least) {
    const char* const end = read_number(at, number);
    return end != nullptr && number >= least ? end : nullptr;
}

/// `-` is not seen.
[[gnu::always_inline]] inline const char* read_if_seen(const char* at, Value& value, std::int64_t least) {
    if (*at == '-' && !is_digit(at[1])) {
        value.seen = false;
        return at + 1;
    }
    return read_number(at, value.number, least);
}

/// Stops at the first control character, which is the border behind the field if the text is sound.
[[gnu::always_inline]] inline const char* skip_text(const char* at) {
    for (;; at += 8) {
        const auto word = load(at);
        const auto controls = (word - each * 0x20) & ~word & high_bits;
        if (controls != 0) return at + bytes_before(controls);
    }
}

[[gnu::noinline]] inline const char* read_address(const char* at, std::int64_t& number) {
    const char* end = at;
    while (is_hex(*end) || (*end >= 'A' && *end <= 'F'))
        ++end;
    std::uint64_t address = 0;
    if (std::from_chars(at, end, address, 16).ec != std::errc{}) return nullptr;
    number = static_cast<std::int64_t>(address);
    return end;
}

/// Bare hexadecimal, lower case and without leading zeros, so that one number has one spelling. Byte by byte: the
/// lengths are mostly the same, and the processor guesses them.
[[gnu::always_inline]] inline const char* skip_hex(const char* at) {
    const char* const begin = at;
    while (is_hex(*at))
        ++at;
    return at != begin && at - begin <= 16 && (*begin != '0' || at - begin == 1) ? at : nullptr;
}

/// Whether the eight bytes are digits of bare lower-case hexadecimal.
[[gnu::always_inline]] inline bool are_hex(std::uint64_t word) {
    const auto letters = word ^ (each * 0x60);  // a to f are 1 to 6
    const auto are_letters = ~(letters + each * (0x80 - 7)) & (letters + each * 0x7f) & ~letters & high_bits;
    return (mark_others(word ^ (each * '0')) & ~are_letters) == 0;
}

/// "0.ffff7f000001": most addresses are of IPv4. Null if it is none.
[[gnu::always_inline]] inline const char* skip_mapped_address(const char* at) {
    constexpr std::uint64_t mapped = 0x666666662e30, six_bytes = 0xffffffffffff;  // "0.ffff"
    return (load(at) & six_bytes) == mapped && at[6] != '\n' && are_hex(load(at + 6)) ? at + 14 : nullptr;
}

[[gnu::always_inline]] inline const char* skip_ip(const char* at) {
    if (const char* const mapped = skip_mapped_address(at); mapped != nullptr && !is_hex(*mapped)) [[likely]]
        return mapped;
    at = skip_hex(at);
    if (at == nullptr || *at++ != '.') return nullptr;
    return skip_hex(at);
}

[[gnu::always_inline]] inline const char* skip_endpoint(const char* at) {
    at = skip_ip(at);
    if (at == nullptr || *at++ != ':') return nullptr;
    std::int64_t port = 0;
    const char* const end = read_number(at, port, 0);
    if (end == nullptr || port > std::numeric_limits<std::uint16_t>::max()) return nullptr;
    return is_digit(*at) && (*at != '0' || end - at == 1) ? end : nullptr;
}

[[gnu::noinline]] inline const char* skip_stack(const char* at) {
    for (std::int64_t address = 0;; ++at) {
        at = read_address(at, address);
        if (at == nullptr || *at != ',') return at;
    }
}

/// All of `value` but its `raw`.
[[gnu::always_inline]] inline const char* read(const char* at, FieldType type, Value& value) {
    constexpr auto any = std::numeric_limits<std::int64_t>::min();
    value.number = 0;
    value.seen = true;
    switch (type) {
        case FieldType::stage:
            return read_if_seen(at, value, 0);
        case FieldType::time:
        case FieldType::count:
            return read_number(at, value.number, 0);
        case FieldType::value:
            return read_if_seen(at, value, any);
        case FieldType::integer:
            return read_number(at, value.number, any);
        case FieldType::reason:
            return read_number(at, value.number, -1);
        case FieldType::text:
            return skip_text(at);
        case FieldType::address:
            return read_address(at, value.number);
        case FieldType::endpoint:
            return skip_endpoint(at);
        case FieldType::ip:
            return skip_ip(at);
        case FieldType::stack:
            return skip_stack(at);
        case FieldType::place:
        case FieldType::reason_name:
            break;  // cannot be declared
    }
    return nullptr;
}

}  // namespace stapgen::decode::fields
