#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace stapgen::analyze {

/// How the values of a Histogram are put into bins: 256 to each doubling, and one to each number below 512. Borders are
/// whole numbers and no logarithm is taken.
namespace bins {

inline constexpr int per_doubling = 256;
inline constexpr int count = 34 * per_doubling;
/// 2^41 - 1 ns, 36 minutes.
inline constexpr std::int64_t largest = (std::int64_t{1} << 41) - 1;

/// The bin of 0 <= value <= largest.
inline int index_of(std::int64_t value) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 9);
    return shift * per_doubling + static_cast<int>(value >> shift);
}

/// The lowest number of a bin; of bin `count` the lowest that is in none.
inline std::int64_t lowest(int bin) {
    const int shift = std::max(0, bin / per_doubling - 1);
    return std::int64_t{bin - shift * per_doubling} << shift;
}

/// The middle of a bin: off by at most half its width, 1/512 of its lowest number.
inline std::int64_t middle(int bin) {
    return (lowest(bin) + lowest(bin + 1) - 1) / 2;
}

}  // namespace bins

/// Those of the totals that a script that aggregates splits: 32 to each doubling, of all numbers of 63 bits.
namespace split_bins {

inline constexpr int per_doubling = 32;

/// The middle of a bin: off by at most half its width, 1/64 of its lowest number.
inline std::int64_t middle(int bin) {
    const int shift = std::max(0, bin / per_doubling - 1);
    const auto lowest = std::int64_t{bin - shift * per_doubling} << shift;
    return lowest + ((std::int64_t{1} << shift) - 1) / 2;
}

}  // namespace split_bins

/// Percentiles of a Histogram are off by at most this much of the value, for values up to bins::largest. Half a bin.
inline constexpr double relative_error = 1.0 / (2 * bins::per_doubling);

}  // namespace stapgen::analyze
