#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recipe/recipe.h"

namespace stapgen::recipe {

/// All recipes that can be used, sorted by name, and why the others cannot, by the name of their folder.
struct Catalog {
    std::vector<Recipe> recipes;
    std::map<std::string, base::Error> broken;
};

/// A folder with recipes, and who may read them: where `check` fails for a recipe's folder, that recipe is not read.
/// Without it all are.
struct RecipeFolder {
    std::filesystem::path path;
    std::function<base::Result<void>(const std::filesystem::path&)> check{};
};

/// The recipes in these folders, one folder a recipe. The first folder that has a name wins. A folder that is
/// not there has no recipes.
Catalog load_catalog(const std::vector<RecipeFolder>& folders);

/// The error suggests a name that is near, or says why the recipe cannot be used.
base::Result<Recipe> find_recipe(const Catalog& catalog, std::string_view name);

/// What is said of that text in the recipe's meanings, the first that fits; null if nothing is.
const Meaning* meaning_of(const Recipe& recipe, std::string_view text);

}  // namespace stapgen::recipe
