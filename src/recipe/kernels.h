#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace stapgen::recipe {

/// What was shown of a recipe for some kernels: a row of kernels.toml.
struct KernelRange {
    std::string range;
    std::string state;  ///< "run" or "resolved"
    std::string lost;   ///< what is missing there, or empty
};

base::Result<std::vector<KernelRange>> kernels_of(const std::string& recipe, const std::filesystem::path& file);

}  // namespace stapgen::recipe
