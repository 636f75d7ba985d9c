#pragma once

#include <filesystem>

#include "base/result.h"
#include "recipe/recipe.h"

namespace stapgen::recipe {

/// Reads and checks `folder`/recipe.toml. Errors name file, line and column; a key nobody knows is an error.
base::Result<Recipe> load_recipe(const std::filesystem::path& folder);

}  // namespace stapgen::recipe
