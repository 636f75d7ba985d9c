#pragma once

#include <filesystem>
#include <vector>

namespace stapgen::containers {

/// What is in a folder, sorted; nothing where it cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

}  // namespace stapgen::containers
