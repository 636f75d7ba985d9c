// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

/// How values are put into bins, in the kernel and here: 256 to each doubling, and one to each number below 512.
/// Borders are whole numbers and no logarithm is taken. tapsets/c/histogram.h has the same in C.
namespace stapgen::schema::bins {

inline constexpr int per_doubling = 256;
inline constexpr int count = 34 * per_doubling;
/// 2^41 - 1 ns, 36 minutes.
inline constexpr std::int64_t largest = (std::int64_t{1} << 41) - 1;
/// Number for the totals that an aggregating script splits; they cover all numbers of 63 bits.
inline constexpr int split_per_doubling = 32;
inline constexpr int split_count = 59 * split_per_doubling;

/// The bin of 0 <= value <= largest.
inline int index_of(std::int64_t value) {
    constexpr auto first_wide = std::uint64_t{2 * per_doubling};  // below it each number has a bin
    const auto shift = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value) | (first_wide - 1))) - 9;
    return shift * per_doubling + static_cast<int>(value >> shift);
}

/// The width of a bin is 2 to this power.
template <int to_a_doubling = per_doubling>
int shift_of(int bin) {
    return std::max(0, bin / to_a_doubling - 1);
}

/// The lowest number of a bin; of bin `count` the lowest that is in none.
template <int to_a_doubling = per_doubling>
std::int64_t lowest(int bin) {
    const int shift = shift_of<to_a_doubling>(bin);
    return std::int64_t{bin - shift * to_a_doubling} << shift;
}

/// The middle of a bin: off by at most half its width, 1/512 (of split totals 1/64) of its lowest number.
template <int to_a_doubling = per_doubling>
std::int64_t middle(int bin) {
    return lowest<to_a_doubling>(bin) + ((std::int64_t{1} << shift_of<to_a_doubling>(bin)) - 1) / 2;
}

}  // namespace stapgen::schema::bins
