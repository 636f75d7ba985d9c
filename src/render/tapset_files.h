// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "recipe/catalog.h"
#include "render/standalone.h"

namespace stapgen::render {

/// Where stap finds the tapset: what is for all, and what --debuginfo MODE chooses.
std::vector<std::filesystem::path> tapset_folders(const recipe::ProgramFiles& files, const std::string& debuginfo);

/// The texts of the tapset files in these folders, sorted by name.
base::Result<std::vector<TapsetFile>> read_tapsets(const std::vector<std::filesystem::path>& folders);

}  // namespace stapgen::render
