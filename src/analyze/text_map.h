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

namespace stapgen::analyze {

struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

/// A map by text in which a std::string_view can be looked up.
template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

/// What keys that came up lately stand for, by recent_place(). The keys are another map's.
template <class Value>
struct RecentKey {
    std::string_view key;
    Value value{};
};
template <class Value>
using RecentKeys = std::array<RecentKey<Value>, 256>;

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
