#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "recipe/catalog.h"

namespace stapgen::recipe {

/// What is installed beside the program: <prefix>/share/stapgen for <prefix>/bin/stapgen.
struct ProgramFiles {
    std::filesystem::path templates, tapsets, skeleton, workarounds, kernels;
};

base::Result<ProgramFiles> find_program_files(const std::filesystem::path& program);

/// Where recipes of this machine are, for all its users.
inline constexpr const char* system_recipe_folder = "/etc/stapgen/recipes";

/// Where a recipe of one's own is made: $XDG_CONFIG_HOME/stapgen/recipes or ~/.config/stapgen/recipes; as root (a sudo
/// that kept somebody's $HOME) system_recipe_folder where others can write that one. Nothing without $HOME.
std::optional<std::filesystem::path> own_recipe_folder();

/// Where recipes are looked for, the first first: --recipe-path, $STAPGEN_RECIPE_PATH (both with : between
/// folders), the user's own, those of the machine, and ours. As root only recipes that nobody else can change are read,
/// and those of the machine come before the user's: so one that is refused in a home is found once it is copied there.
/// Under sudo the home of who called it is looked at, too, so that a recipe in it is refused and not unknown. Who can
/// change ours can change the program.
std::vector<RecipeFolder> recipe_folders(const std::string& recipe_path, const ProgramFiles& files);

/// What the whole program works with.
struct Program {
    ProgramFiles files;
    Catalog catalog;
};

}  // namespace stapgen::recipe
