// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stapgen::fuzz {

/// Makes choices of an input's bytes, one byte each; of the first kind when they are used up.
class Choices {
  public:
    Choices(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

    [[nodiscard]] bool empty() const { return bytes_.empty(); }
    /// 0 to n - 1, 255 at most.
    std::size_t below(std::size_t n) {
        if (bytes_.empty()) return 0;
        const auto byte = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return byte % n;
    }
    const auto& of(const auto& all) { return all[below(std::size(all))]; }

  private:
    std::span<const std::uint8_t> bytes_;
};

}  // namespace stapgen::fuzz
