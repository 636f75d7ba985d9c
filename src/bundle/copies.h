// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/files.h"
#include "base/result.h"

namespace stapgen::bundle {

/// Copies of some files of an archive, unpacked, in a folder of their own as long as this lives.
struct Copies {
    base::PrivateDirectory folder;
    std::map<std::string, std::filesystem::path> files;  ///< by the path that walk() gives
    std::vector<std::string> left_out;                   ///< what is not there, and why: a line each, for a person
};

/// Goes through the archive once more, charged to the budget that it was read with. Of `wanted`, what there is no room
/// for in that is left out. Errors: those of walk(); the folder cannot be made.
base::Result<Copies> copies_of(const std::filesystem::path& archive, const std::set<std::string>& wanted,
                               const std::shared_ptr<base::Budget>& budget);

}  // namespace stapgen::bundle
