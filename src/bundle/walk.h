// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "base/source.h"

/// Support archives: sosreport, must-gather, supportconfig, any tar or folder of texts. docs/guide/archives-and-logs.md
namespace stapgen::bundle {

/// A text that many have, once.
using SharedText = std::shared_ptr<const std::string>;

/// A regular file of an archive or folder.
struct File {
    /// As the archive or folder has it, "FILE.tar: PATH" in an archive in it; of base::limits::path_bytes at most for
    /// each of them.
    SharedText path;
    std::unique_ptr<base::Source> content;  ///< unpacked; to be read before the next file is asked for
};

/// The result of a walk, beside the files that were handed out.
struct Walked {
    std::int64_t files = 0, unreadable = 0;  ///< all; those of them that could not be handed out
    std::int64_t passed_over = 0;            ///< links, devices and sparse files
    std::vector<std::string> damaged;        ///< for a person, each: what could not be read, and why
    bool cut_short = false;
};

/// Whether it is a tar, packed or not.
base::Result<bool> is_archive(const std::filesystem::path& path);

/// Hands out each file, those of archives in it, too (base::limits::archive_depth). Nothing is written to disk, and a
/// link is not followed. What is damaged is left out and said; the rest is read. What all of it costs is charged to
/// `budget`; where that is used up, this is said and what was handed out before stands. Errors: there is nothing of
/// that name, or it is neither an archive nor a folder.
base::Result<Walked> walk(const std::filesystem::path& path, const std::shared_ptr<base::Budget>& budget,
                          const std::function<void(const File& file)>& take);

}  // namespace stapgen::bundle
