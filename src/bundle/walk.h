// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/source.h"

/// Support archives: sosreport, must-gather, supportconfig, any tar or folder of texts. docs/guide/support-archives.md
namespace stapgen::bundle {

/// A regular file of an archive or folder.
struct File {
    std::string path;                       ///< as the archive or folder has it, "FILE.tar: PATH" in an archive in it
    std::unique_ptr<base::Source> content;  ///< unpacked; to be read before the next file is asked for
};

/// What became of it, beside the files that were handed out.
struct Walked {
    std::int64_t files = 0, unreadable = 0;  ///< all; those of them that could not be handed out
    std::int64_t passed_over = 0;            ///< links, devices and sparse files
    std::vector<std::string> damaged;        ///< for a person, each: what could not be read, and why
    bool cut_short = false;
};

/// Whether it is a tar, packed or not.
base::Result<bool> is_archive(const std::filesystem::path& path);

/// Hands out each file, those of archives in it, too (up to three deep). Nothing is written to disk, and a link is
/// not followed. What is damaged is left out and said; the rest is read. Errors: there is nothing of that name, or it
/// is neither an archive nor a folder; more than a million files.
base::Result<Walked> walk(const std::filesystem::path& path, const std::function<void(const File& file)>& take);

}  // namespace stapgen::bundle
