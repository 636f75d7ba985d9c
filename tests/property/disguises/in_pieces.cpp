// SPDX-License-Identifier: GPL-2.0-or-later
#include "in_pieces.h"

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source.h"

namespace stapgen::disguises {

namespace {

class Pieces final : public base::Source {
  public:
    Pieces(std::string bytes, std::size_t size) : bytes_(std::move(bytes)), size_(size) {}
    base::Result<std::size_t> read(std::span<char> into) override {
        const auto count = std::string_view(bytes_).substr(at_, size_).copy(into.data(), into.size());
        at_ += count;
        return count;
    }
    [[nodiscard]] bool cut_short() const override { return false; }

  private:
    std::string bytes_;
    std::size_t at_ = 0, size_;
};

}  // namespace

std::string as_utf8_in_pieces(std::string bytes, std::size_t piece) {
    auto source = base::as_utf8(std::make_unique<Pieces>(std::move(bytes), piece));
    std::string all;
    std::vector<char> room(1U << 16U);
    while (const auto count = *source->read(room))
        all.append(room.data(), count);
    return all;
}

}  // namespace stapgen::disguises
