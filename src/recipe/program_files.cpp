#include "recipe/program_files.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.h"
#include "base/text.h"

namespace stapgen::recipe {

base::Result<ProgramFiles> find_program_files(const std::filesystem::path& program) {
    std::error_code error;
    const auto share = program.parent_path().parent_path() / "share" / "stapgen";
    if (program.empty() || !std::filesystem::is_directory(share / "templates", error)) {
        return base::cannot_here(fmt::format("stapgen's own files are not in {}", share.string()),
                                 "install it whole: 'cmake --install BUILD --prefix PREFIX'");
    }
    return ProgramFiles{share / "templates", share / "tapsets", share / "skeleton" / "my-recipe",
                        share / "workarounds.toml", share / "kernels.toml"};
}

namespace {

namespace fs = std::filesystem;

constexpr const char* below_config = "stapgen/recipes";

std::optional<fs::path> recipes_of_home() {
    if (const char* config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && config[0] == '/') {
        return fs::path(config) / below_config;
    }
    const char* home = std::getenv("HOME");
    if (home == nullptr || home[0] != '/') return std::nullopt;
    return fs::path(home) / ".config" / below_config;
}

/// sudo has set $HOME to root's, unless it was asked not to.
std::optional<fs::path> recipes_of_caller_of_sudo() {
    const char* uid = std::getenv("SUDO_UID");
    const auto number = base::to_unsigned(uid == nullptr ? "" : uid);
    if (!number) return std::nullopt;
    const auto* user = ::getpwuid(static_cast<uid_t>(*number));
    if (user == nullptr || user->pw_dir == nullptr || user->pw_dir[0] != '/') return std::nullopt;
    return fs::path(user->pw_dir) / ".config" / below_config;
}

/// What root reads and nobody else can change. `otherwise`: what else is to be done once it is copied.
base::Result<void> check_as_root(const fs::path& recipe, std::string_view otherwise) {
    std::vector<std::string> command{"install", "-D", "-m",
                                     "644",     "-t", (fs::path(system_recipe_folder) / recipe.filename()).string()};
    if (std::getenv("SUDO_UID") != nullptr) command.insert(command.begin(), "sudo");
    auto trusted = base::only_root_writes(recipe);
    for (const auto* name : {"recipe.toml", "script.stp"}) {
        std::error_code error;
        const auto file = recipe / name;
        if (!fs::exists(file, error)) continue;
        command.push_back(file.string());
        if (trusted) trusted = base::only_root_writes(file);
    }
    if (trusted) return trusted;
    auto error = trusted.error();
    error.hint = recipe.parent_path() == system_recipe_folder
                     ? fmt::format("remove {} and put it there again as root", recipe.string())
                     : fmt::format("read it, and copy it to where only root writes{}: {}", otherwise,
                                   base::shell_quoted(command));
    return tl::make_unexpected(std::move(error));
}

}  // namespace

std::optional<fs::path> own_recipe_folder() {
    auto own = recipes_of_home();
    if (own && ::geteuid() == 0 && !base::only_root_makes(*own)) own = system_recipe_folder;
    return own;
}

std::vector<RecipeFolder> recipe_folders(const std::string& recipe_path, const ProgramFiles& files) {
    const bool is_root = ::geteuid() == 0;
    std::vector<RecipeFolder> folders;
    const auto add = [&](const fs::path& folder, const char* otherwise = "") {
        auto& added = folders.emplace_back(RecipeFolder{folder});
        if (is_root) added.check = [otherwise](const fs::path& recipe) { return check_as_root(recipe, otherwise); };
    };
    const auto add_list = [&](std::string_view list, const char* otherwise) {
        for (const auto folder : base::split(list, ':')) {
            if (!folder.empty()) add(folder, otherwise);
        }
    };
    add_list(recipe_path, ", where it is found without --recipe-path");
    if (const char* list = std::getenv("STAPGEN_RECIPE_PATH")) {
        add_list(list, ", where it is found without $STAPGEN_RECIPE_PATH");
    }
    const auto own = recipes_of_home(), of_caller = is_root ? recipes_of_caller_of_sudo() : std::nullopt;
    if (is_root) add(system_recipe_folder);
    if (own) add(*own);
    if (of_caller) add(*of_caller);
    if (!is_root) add(system_recipe_folder);
    folders.push_back({files.templates});
    return folders;
}

}  // namespace stapgen::recipe
