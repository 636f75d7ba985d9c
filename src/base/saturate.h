// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

namespace stapgen::base {

/// Counts come from outside, so that sums of them must not overflow: they stop at the largest number.
inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

inline void add_saturating(std::int64_t& into, std::int64_t more) {
    into = saturating_add(into, more);
}

/// The sum of what `count`, a member or a function, says of each row.
std::int64_t saturating_sum(const auto& rows, const auto& count) {
    std::int64_t sum = 0;
    for (const auto& row : rows)
        add_saturating(sum, std::invoke(count, row));
    return sum;
}

inline std::int64_t saturating_subtract(std::int64_t a, std::int64_t b) {
    std::int64_t difference = 0;
    if (!__builtin_sub_overflow(a, b, &difference)) return difference;
    return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

inline std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) return product;
    return (a < 0) != (b < 0) ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

}  // namespace stapgen::base
