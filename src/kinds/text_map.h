// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stapgen::kinds {

struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

/// A map by text in which a std::string_view can be looked up.
template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

/// A number of 8 bits that mostly differs where keys do: the place of a key in a table of those that came up lately.
[[gnu::always_inline]] inline std::size_t recent_place(std::string_view key) {
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
    std::uint64_t all = key.size();
    // The products do not wait for each other.
    const auto mix = [&](std::uint64_t word) { all = std::rotl(all, 7) ^ (word * factor); };
    const auto load = [](auto word, const char* at) {
        std::memcpy(&word, at, sizeof word);
        return std::uint64_t{word};
    };
    const char* const end = key.data() + key.size();
    if (key.size() >= 8) {
        for (const auto* at = key.data(); at + 8 < end; at += 8)
            mix(load(std::uint64_t{}, at));
        mix(load(std::uint64_t{}, end - 8));
    } else if (key.size() >= 4) {
        mix(load(std::uint32_t{}, key.data()) << 32U | load(std::uint32_t{}, end - 4));
    } else if (!key.empty()) {
        mix(load(std::uint8_t{}, key.data()) << 16U | load(std::uint8_t{}, key.data() + key.size() / 2) << 8U |
            load(std::uint8_t{}, end - 1));
    }
    return ((all ^ all >> 32U) * factor) >> 56U;
}

}  // namespace stapgen::kinds
