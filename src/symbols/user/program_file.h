// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"

namespace stapgen::symbols::user {

/// The bytes of a file that a program runs. Its owner may change and cut it at any time: nothing is mapped, each piece
/// is copied.
class ProgramFile {
  public:
    /// Takes the descriptor over. Nothing: it is none, or no regular file.
    static std::optional<ProgramFile> take(int fd);
    /// Bytes that were made.
    explicit ProgramFile(std::string made) : made_(std::make_shared<std::string>(std::move(made))) {}

    /// Nothing: they are more than limits::piece, or the file has not all of them.
    [[nodiscard]] std::optional<std::string> read(std::uint64_t offset, std::uint64_t size) const;
    /// The user who owns it, and what it is on its device.
    [[nodiscard]] const struct stat& status() const { return status_; }

    /// Bytes of one section.
    static constexpr std::uint64_t piece = std::uint64_t{128} << 20U;

  private:
    ProgramFile() = default;
    std::shared_ptr<base::Descriptor> fd_;
    std::shared_ptr<std::string> made_;
    struct stat status_ {};
};

}  // namespace stapgen::symbols::user
