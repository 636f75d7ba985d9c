#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "recipe/kernels.h"
#include "recipe/program_files.h"
#include "recipe/recipe.h"

/// What is told of a recipe, by `show` and in its manual.
namespace stapgen::cli {

/// What was shown of it for some kernels. None of a recipe of the user's: of those nothing was shown.
base::Result<std::vector<recipe::KernelRange>> kernels_of(const recipe::Program& program, const recipe::Recipe& recipe);

/// A range of kernels, and whether the recipe was run there and what is lost.
std::vector<std::pair<std::string, std::string>> kernel_rows(const std::vector<recipe::KernelRange>& kernels);

}  // namespace stapgen::cli
