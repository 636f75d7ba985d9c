// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace stapgen::base {

/// Takes one kind of compressed data apart, piece by piece; several in a row are one.
class Unpacker {
  public:
    struct Step {
        std::size_t taken = 0, made = 0;  ///< bytes of input and output
        bool damaged = false;             ///< the input is not of this kind, from about here on; `made` is good
    };

    virtual ~Unpacker() = default;
    /// Both may be taken in part. `last`: no input follows. With nothing taken and nothing made it needs more input.
    virtual Step step(std::string_view packed, std::span<char> text, bool last) = 0;
    /// The input may end here.
    [[nodiscard]] virtual bool complete() const = 0;
    /// Why it is damaged: this unpacker would take more memory than base/limits.h has for it.
    [[nodiscard]] virtual bool wants_memory() const { return false; }
};

/// Number of leading bytes that identify the format.
inline constexpr std::size_t magic_size = 6;

/// By the first bytes: zstd, gzip, bzip2 or xz. Null for anything else.
std::unique_ptr<Unpacker> make_unpacker(std::string_view beginning);

struct Unpacked {
    std::string bytes;
    bool whole = false;  ///< all of it; else it is damaged, cut short, of no known kind or larger than the limit
};
/// As much as can be unpacked, up to a little more than `limit` bytes.
Unpacked unpack(std::string_view packed, std::size_t limit);

}  // namespace stapgen::base
