// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "base/files.h"
#include "base/result.h"

namespace stapgen::bundle {

/// Copies of some files of an archive, unpacked, in a folder of their own as long as this lives.
struct Copies {
    base::PrivateDirectory folder;
    std::map<std::string, std::filesystem::path> files;  ///< by the path that walk() gives
};

/// Goes through the archive once more. Of `wanted`, what is larger than 64 MiB is left out, and all behind the first
/// 64 files. Errors: those of walk(); the folder cannot be made or written.
base::Result<Copies> copies_of(const std::filesystem::path& archive, const std::set<std::string>& wanted);

}  // namespace stapgen::bundle
