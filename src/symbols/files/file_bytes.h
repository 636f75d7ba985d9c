#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stapgen::symbols {

/// What a file holds, unpacked where it is packed by gzip, bzip2, xz or zstd. A plain file is mapped, not copied (a
/// vmlinux has up to 900 MB); the file itself is never changed by what is done to the bytes.
class FileBytes {
  public:
    /// Errors (bad_input): it cannot be read; it is damaged; unpacked it is larger than 2 GiB (ELF) or 256 MiB (text).
    static base::Result<FileBytes> read(const std::filesystem::path& path);
    /// Bytes that were made.
    explicit FileBytes(std::string made);

    [[nodiscard]] std::span<char> bytes() const { return bytes_; }
    [[nodiscard]] std::string_view text() const { return {bytes_.data(), bytes_.size()}; }

  private:
    FileBytes(std::shared_ptr<void> owner, std::span<char> bytes) : owner_(std::move(owner)), bytes_(bytes) {}

    std::shared_ptr<void> owner_;
    std::span<char> bytes_;
};

}  // namespace stapgen::symbols
