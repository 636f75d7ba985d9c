#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "recipe/catalog.h"

namespace stapgen::cli {

/// "stapgen 0.1.0".
std::string program_version();

std::string_view build_date();

/// SHA-256 over what decides what the scripts are: recipes, tapsets and workarounds. It is that of the text of
/// sha256sum for these files, by name, in `share`: find workarounds.toml tapsets templates -type f | LC_ALL=C sort |
/// xargs sha256sum | sha256sum.
base::Result<std::string> recipe_hash(const std::filesystem::path& share);

/// The lines of --version.
std::string version_text(const recipe::Program& program);

}  // namespace stapgen::cli
