// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"

struct ZSTD_CCtx_s;

namespace stapgen::recording {

/// A new file of one zstd frame, mode 0600. What has been flushed can be read whatever happens afterwards. Every error
/// is `failed`; after one in a write the file is not to be written any further.
class PackedFile {
  public:
    /// Fails if `path` is there already, even as a dangling symbolic link. "-" is stdout.
    static base::Result<std::unique_ptr<PackedFile>> create(const std::filesystem::path& path);
    PackedFile(const PackedFile&) = delete;
    PackedFile& operator=(const PackedFile&) = delete;
    /// Closes it as it is.
    ~PackedFile();

    base::Result<void> write(std::string_view text);
    /// All that was written is in the file.
    base::Result<void> flush();
    /// Ends the frame and closes the file.
    base::Result<void> finish();

    [[nodiscard]] std::uint64_t size() const { return size_; }  ///< bytes in the file

  private:
    PackedFile(std::filesystem::path path, int fd);
    [[nodiscard]] base::Result<void> write_error(int why) const;
    /// `directive`: a ZSTD_EndDirective.
    base::Result<void> pack(std::string_view text, int directive);
    base::Result<void> store(std::string_view bytes);

    std::filesystem::path path_;
    int fd_;
    ZSTD_CCtx_s* packer_;
    std::vector<char> packed_;
    std::uint64_t size_ = 0;
};

}  // namespace stapgen::recording
