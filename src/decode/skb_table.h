#pragma once

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
        int above = 0;                       ///< how many devices stand above this one
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

}  // namespace stapgen::decode
