// SPDX-License-Identifier: GPL-2.0-or-later
// Choices: from a fuzzer's input, or drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

class Bytes {
  public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
    bool empty() const { return at_ == size_; }
    /// 0 to n - 1; 0 behind the end.
    unsigned next(unsigned n) { return empty() ? 0 : data_[at_++] % n; }

  private:
    const std::uint8_t* data_;
    std::size_t size_, at_ = 0;
};

inline std::vector<std::uint8_t> drawn_bytes(unsigned seed, std::size_t size) {
    std::mt19937 draw(seed);
    std::vector<std::uint8_t> bytes(size);
    for (auto& byte : bytes)
        byte = static_cast<std::uint8_t>(draw());
    return bytes;
}
