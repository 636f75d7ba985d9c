// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace stapgen::base {

/// Whether two texts are the same. For short ones, of unknown length, where calling memcmp takes longer.
[[gnu::always_inline]] inline bool are_same(std::string_view a, std::string_view b) {
    const auto size = a.size();
    if (size != b.size()) return false;
    const auto differ = [&](auto word, std::size_t at) {
        auto other = word;
        std::memcpy(&word, a.data() + at, sizeof word);
        std::memcpy(&other, b.data() + at, sizeof other);
        return word ^ other;
    };
    if (size >= 8) {
        for (std::size_t at = 0; at + 8 < size; at += 8) {
            if (differ(std::uint64_t{}, at) != 0) return false;
        }
        return differ(std::uint64_t{}, size - 8) == 0;
    }
    if (size >= 4) return (differ(std::uint32_t{}, 0) | differ(std::uint32_t{}, size - 4)) == 0;
    return size == 0 || (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
}

}  // namespace stapgen::base
