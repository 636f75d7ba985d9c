// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace stapgen::decode {

/// The packets that are under way, by the address of their skb. Of constant size: a new one may push out the oldest
/// of its neighbours.
class SkbTable {
  public:
    struct Entry {
        std::uint64_t address = 0;  ///< 0: empty
        std::int64_t first_ns = 0;
        std::int64_t second_ns = -1;         ///< -1: not yet
        std::array<char, 16> device_text{};  ///< as long as the kernel's names of devices are
        std::int64_t stacked_ns = -1;        ///< when the first of several stacked devices had it; -1: there is one
        int above = 0;                       ///< number of devices stacked on this one
        bool gone = false;                   ///< the lowest device has sent it, those above have not said so yet

        [[nodiscard]] std::string_view device() const { return device_text.data(); }
        void set_device(std::string_view device);
    };

    /// A new entry for `address`. Returns whether another one, perhaps of the same address, was pushed out for it.
    bool put(std::uint64_t address, std::int64_t first_ns, std::string_view device);
    /// Null if it is not there.
    Entry* find(std::uint64_t address);
    static void remove(Entry& entry) { entry.address = 0; }
    /// How many are under way, and not gone.
    [[nodiscard]] std::int64_t count() const;

  private:
    static constexpr std::size_t size = 32768, neighbours = 4;
    [[nodiscard]] Entry* first_of(std::uint64_t address);

    std::vector<Entry> entries_;  ///< empty until the first one is put in
};

inline void SkbTable::Entry::set_device(std::string_view device) {
    device_text = {};
    std::ranges::copy(device.substr(0, device_text.size() - 1), device_text.begin());
}

inline SkbTable::Entry* SkbTable::first_of(std::uint64_t address) {
    // Fibonacci hashing: 2^64 / golden ratio. The low bits of addresses are alike.
    const auto hash = (address * 0x9e3779b97f4a7c15U) >> 32;
    return &entries_[hash % (size / neighbours) * neighbours];
}

inline SkbTable::Entry* SkbTable::find(std::uint64_t address) {
    if (entries_.empty()) return nullptr;
    Entry* const begin = first_of(address);
    Entry* const found =
        std::find_if(begin, begin + neighbours, [&](const Entry& entry) { return entry.address == address; });
    return address == 0 || found == begin + neighbours ? nullptr : found;
}

inline bool SkbTable::put(std::uint64_t address, std::int64_t first_ns, std::string_view device) {
    if (address == 0) return false;
    if (entries_.empty()) entries_.resize(size);
    Entry* entry = find(address);
    if (entry == nullptr) {
        Entry* const begin = first_of(address);
        entry = std::min_element(begin, begin + neighbours, [](const Entry& a, const Entry& b) {
            if ((a.address == 0) != (b.address == 0)) return a.address == 0;
            return a.first_ns < b.first_ns;
        });
    }
    const bool pushed_out = entry->address != 0 && !entry->gone;
    *entry = Entry{.address = address, .first_ns = first_ns};
    entry->set_device(device);
    return pushed_out;
}

inline std::int64_t SkbTable::count() const {
    return std::ranges::count_if(entries_, [](const Entry& entry) { return entry.address != 0 && !entry.gone; });
}

}  // namespace stapgen::decode
