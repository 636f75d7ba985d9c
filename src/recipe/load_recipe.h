#pragma once

#include <filesystem>

#include "base/result.h"
#include "recipe/recipe.h"

namespace stapgen::recipe {

/// Whether a recipe, a field or a parameter may be called so: lower case letters, digits, - and _.
bool is_name(std::string_view text);

/// Reads and checks `folder`/recipe.toml. Errors name file, line and column; a key nobody knows is an error.
base::Result<Recipe> load_recipe(const std::filesystem::path& folder);

}  // namespace stapgen::recipe
