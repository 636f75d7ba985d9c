// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/source.h"

namespace stapgen::bundle {

/// Size of a header, and what contents are filled up to: tar(5).
inline constexpr std::size_t tar_block = 512;

/// Whether what begins so is a tar: a header of ustar, GNU's or V7's, by its checksum. It takes the first block.
bool begins_tar(std::string_view beginning);

/// Reads a tar one file after the other, and needs no way back: POSIX's ustar and pax (name and size), GNU's long
/// names. An archive was written by anybody: a name is text and never a place to open, and what is no regular file (a
/// link, a device, a sparse file) is passed over and counted.
class Tar {
  public:
    /// `source` must outlive it. `name` is for messages.
    Tar(base::Source& source, std::string name) : source_(source), name_(std::move(name)) {}

    struct File {
        std::string path;
        std::uint64_t size = 0;
    };
    /// The next regular file whose name can be a path (base::limits::path_bytes); nothing at the end. Errors
    /// (bad_input): a header is damaged, with the byte where; those of the source.
    base::Result<std::optional<File>> next();

    /// The next bytes of the file; 0 at its end, and where the archive ends in it.
    base::Result<std::size_t> read(std::span<char> into);

    /// It ends in the middle.
    [[nodiscard]] bool cut_short() const { return cut_short_; }
    /// Links, devices and sparse files so far. Folders are not counted.
    [[nodiscard]] std::int64_t passed_over() const { return passed_over_; }
    /// Files so far whose name is longer than any path.
    [[nodiscard]] std::int64_t refused() const { return refused_; }

  private:
    base::Result<bool> fill(std::span<char> whole);
    base::Result<std::string> read_text(std::uint64_t size);
    base::Result<void> skip(std::uint64_t bytes);
    base::Result<void> end_file();

    base::Source& source_;
    std::string name_;
    std::uint64_t at_ = 0;                  ///< bytes read
    std::uint64_t left_ = 0, padding_ = 0;  ///< of the file; behind it
    std::int64_t passed_over_ = 0, refused_ = 0;
    bool cut_short_ = false;
};

}  // namespace stapgen::bundle
