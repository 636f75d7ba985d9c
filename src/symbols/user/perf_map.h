// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stapgen::symbols::user {

/// Functions that a program compiled while it ran, as it says itself: /tmp/perf-PID.map, lines "begin size name".
class PerfMap {
  public:
    PerfMap() = default;
    /// Other lines are passed over; `most` functions.
    explicit PerfMap(std::string text);

    /// Of several that were there one after the other the last one.
    [[nodiscard]] std::optional<std::string_view> find(std::uint64_t address) const;

    static constexpr std::size_t most = 1'000'000, bytes = std::size_t{64} << 20U;

  private:
    struct Entry {
        std::uint64_t begin = 0, size = 0;
        std::uint32_t name = 0, length = 0;
    };
    std::string text_;
    std::vector<Entry> entries_;
};

}  // namespace stapgen::symbols::user
