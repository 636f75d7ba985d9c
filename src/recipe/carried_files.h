// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "base/result.h"

namespace stapgen::recipe {

/// A file that is within the program, by its path below share/stapgen.
struct CarriedFile {
    std::string_view path, content;
};

/// None; in the program of the preset `static` (src/static), which has no folder beside it, what others find there.
std::span<const CarriedFile> carried_files();

/// Puts `files` into a folder of `cache` that is named by what they contain, unless it exists. Fails where
/// that cannot be done, or as root where others could change it.
base::Result<std::filesystem::path> unpack(std::span<const CarriedFile> files, const std::filesystem::path& cache);

/// Writes `files` below `folder`.
base::Result<void> write_files(std::span<const CarriedFile> files, const std::filesystem::path& folder);

}  // namespace stapgen::recipe
