// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
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

struct ProgramFiles {
    std::filesystem::path templates, tapsets, skeleton, workarounds, kernels;
    std::filesystem::path sql{}, duckdb{};                ///< questions to a store, and the library that answers
    std::shared_ptr<base::PrivateDirectory> temporary{};  ///< where they are, if they are to go with the program
};

/// The files that are installed beside the program: <prefix>/share/stapgen for <prefix>/bin/stapgen. The files it
/// carries within are unpacked, into the cache, or where that cannot be written into a folder that goes when the
/// program ends.
base::Result<ProgramFiles> find_program_files(const std::filesystem::path& program);

/// Where recipes of this machine are, for all its users.
inline constexpr const char* system_recipe_folder = "/etc/stapgen/recipes";

/// Where a recipe of one's own is made: $XDG_CONFIG_HOME/stapgen/recipes or ~/.config/stapgen/recipes; as root (a sudo
/// that kept another user's $HOME) system_recipe_folder where others can write that one. Nothing without $HOME.
std::optional<std::filesystem::path> own_recipe_folder();

/// Where recipes are looked for, the first first: --recipe-path, $STAPGEN_RECIPE_PATH (both with : between
/// folders), the user's own, those of the machine, and ours. As root only recipes that nobody else can change are read,
/// and those of the machine come before the user's: so one that is refused in a home is found once it is copied there.
/// Under sudo the home of who called it is looked at, too, so that a recipe in it is refused and not unknown. Who can
/// change ours can change the program.
std::vector<RecipeFolder> recipe_folders(const std::string& recipe_path, const ProgramFiles& files);

/// The recipes in these folders, one folder a recipe. The first folder that has a name wins. A folder that is
/// not there has no recipes.
Catalog load_catalog(const std::vector<RecipeFolder>& folders);

/// The error suggests a name that is near, or says why the recipe cannot be used.
base::Result<Recipe> find_recipe(const Catalog& catalog, std::string_view name);

/// The first of the recipe's meanings that fits that text, patterns in upper or lower case; null if none does.
const Meaning* meaning_of(const Recipe& recipe, std::string_view text);

/// The files and recipes of the program.
struct Program {
    ProgramFiles files;
    Catalog catalog;
};

}  // namespace stapgen::recipe
