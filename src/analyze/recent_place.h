#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace stapgen::analyze {

/// A number of 8 bits that mostly differs where keys do: the place of a key in a table of those that came up lately.
inline std::size_t recent_place(std::string_view key) {
    constexpr std::size_t word_size = sizeof(std::uint64_t);
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
    std::uint64_t mixed = key.size(), word = 0;
    // The products do not wait for each other.
    const auto mix = [&] { mixed = std::rotl(mixed, 7) ^ (word * factor); };
    if (key.size() < word_size) {
        for (const char c : key)
            word = word << 8 | static_cast<unsigned char>(c);
        mix();
    } else {
        for (std::size_t at = 0; at + word_size < key.size(); at += word_size) {
            std::memcpy(&word, key.data() + at, word_size);
            mix();
        }
        std::memcpy(&word, key.data() + key.size() - word_size, word_size);
        mix();
    }
    return ((mixed ^ mixed >> 32) * factor) >> 56;
}

}  // namespace stapgen::analyze
