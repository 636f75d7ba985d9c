// SPDX-License-Identifier: GPL-2.0-or-later
#include "recipe/catalog.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "base/files.h"
#include "base/text.h"
#include "recipe/carried_files.h"

namespace stapgen::recipe {

namespace {

namespace fs = std::filesystem;

std::optional<fs::path> recipes_of_home() {
    const auto folder = base::config_directory();
    return folder ? std::optional(*folder / "recipes") : std::nullopt;
}

/// sudo has set $HOME to root's, unless it was asked not to.
std::optional<fs::path> recipes_of_caller_of_sudo() {
    const char* uid = std::getenv("SUDO_UID");
    const auto number = base::to_unsigned(uid == nullptr ? "" : uid);
    if (!number) return std::nullopt;
    const auto* user = ::getpwuid(static_cast<uid_t>(*number));
    if (user == nullptr || user->pw_dir == nullptr || user->pw_dir[0] != '/') return std::nullopt;
    return fs::path(user->pw_dir) / ".config/stapgen/recipes";
}

/// Checks that nobody but root can change the recipe. `otherwise`: what else is to be done once it is copied.
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
                     ? fmt::format("remove {} and create it again as root", recipe.string())
                     : fmt::format("read it, and copy it to where only root writes{}: {}", otherwise,
                                   base::shell_quoted(command));
    return tl::make_unexpected(std::move(error));
}

/// Recipes that take nothing from others, by their folders: each is read once, whoever takes from it.
using Plain = std::map<fs::path, Recipe>;

base::Result<Recipe> load_as(const fs::path& folder, const std::string& name,
                             const decltype(RecipeFolder::check)& check, const FindRecipe& find, Plain& plain) {
    if (const auto allowed = check ? check(folder) : base::Result<void>(); !allowed) {
        return base::bad_input(fmt::format("the recipe '{}' is ignored: {}", name, allowed.error().what),
                               allowed.error().hint);
    }
    if (const auto known = plain.find(folder); known != plain.end()) return known->second;
    auto recipe = load_recipe(folder, find);
    if (recipe && recipe->name != name) {
        return base::bad_input(fmt::format("{}: the recipe is named '{}', but its folder '{}'",
                                           (folder / "recipe.toml").string(), recipe->name, name),
                               "give both the same name");
    }
    if (recipe && recipe->includes.empty()) plain.emplace(folder, *recipe);
    return recipe;
}

ProgramFiles files_in(const fs::path& share) {
    return {share / "templates",        share / "tapsets",      share / "skeleton" / "my-recipe",
            share / "workarounds.toml", share / "kernels.toml", share / "sql",
            share / "libduckdb.so"};
}

base::Result<ProgramFiles> unpacked(std::span<const CarriedFile> carried) {
    const auto kept = unpack(carried, base::cache_directory());
    if (kept) return files_in(*kept);
    auto temporary = base::PrivateDirectory::create();
    const auto written = temporary ? write_files(carried, temporary->path()) : tl::make_unexpected(temporary.error());
    if (!written) {
        return base::cannot_here(
            fmt::format("stapgen cannot unpack its own files: {}; {}", kept.error().what, written.error().what),
            "set XDG_CACHE_HOME to a writable folder");
    }
    auto files = files_in(temporary->path());
    files.temporary = std::make_shared<base::PrivateDirectory>(*std::move(temporary));
    return files;
}

bool has_recipe(const fs::path& folder) {
    std::error_code error;
    return fs::exists(folder / "recipe.toml", error);
}

/// The recipe of that name that those of folders[in] include: the one beside them, else the first there is.
base::Result<Recipe> find_included(const std::vector<RecipeFolder>& folders, std::size_t in, const std::string& name,
                                   Plain& plain) {
    const auto refuse = [&](const std::string&) -> base::Result<Recipe> {
        return base::bad_input(fmt::format("{} takes from other recipes itself", name),
                               "name the recipe that it takes that from");
    };
    std::vector<const RecipeFolder*> order{&folders[in]};
    for (const auto& folder : folders)
        order.push_back(&folder);
    for (const auto* folder : order) {
        if (has_recipe(folder->path / name)) return load_as(folder->path / name, name, folder->check, refuse, plain);
    }
    return base::bad_input(fmt::format("there is no recipe '{}'", name), "'stapgen list' lists them");
}

}  // namespace

base::Result<ProgramFiles> find_program_files(const fs::path& program) {
    if (const auto carried = carried_files(); !carried.empty()) return unpacked(carried);
    std::error_code error;
    const auto share = program.parent_path().parent_path() / "share" / "stapgen";
    if (program.empty() || !fs::is_directory(share / "templates", error)) {
        return base::cannot_here(fmt::format("stapgen's own files are missing in {}", share.string()),
                                 "install all of it: 'cmake --install BUILD --prefix PREFIX'");
    }
    return files_in(share);
}

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
    add_list(recipe_path, ", where stapgen finds it without --recipe-path");
    if (const char* list = std::getenv("STAPGEN_RECIPE_PATH")) {
        add_list(list, ", where stapgen finds it without $STAPGEN_RECIPE_PATH");
    }
    const auto own = recipes_of_home(), of_caller = is_root ? recipes_of_caller_of_sudo() : std::nullopt;
    if (is_root) add(system_recipe_folder);
    if (own) add(*own);
    if (of_caller) add(*of_caller);
    if (!is_root) add(system_recipe_folder);
    folders.push_back({files.templates});
    return folders;
}

Catalog load_catalog(const std::vector<RecipeFolder>& folders) {
    Catalog catalog;
    std::map<std::string, Recipe> by_name;
    Plain plain;
    for (std::size_t i = 0; i < folders.size(); ++i) {
        const auto find = [&](const std::string& name) { return find_included(folders, i, name, plain); };
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(folders[i].path, error)) {
            const auto name = entry.path().filename().string();
            if (!has_recipe(entry.path())) continue;
            if (by_name.contains(name) || catalog.broken.contains(name)) continue;
            if (auto recipe = load_as(entry.path(), name, folders[i].check, find, plain)) {
                by_name.emplace(name, *std::move(recipe));
            } else {
                catalog.broken.emplace(name, recipe.error());
            }
        }
    }
    for (auto& [name, recipe] : by_name)
        catalog.recipes.push_back(std::move(recipe));
    return catalog;
}

base::Result<Recipe> find_recipe(const Catalog& catalog, std::string_view name) {
    std::vector<std::string> names;
    for (const auto& recipe : catalog.recipes) {
        if (recipe.name == name) return recipe;
        names.push_back(recipe.name);
    }
    if (const auto broken = catalog.broken.find(std::string(name)); broken != catalog.broken.end()) {
        return tl::make_unexpected(broken->second);
    }
    constexpr const char* more = " 'stapgen list' lists them";
    return base::bad_input(fmt::format("there is no recipe '{}'", base::printable(name)),
                           base::meant_hint(name, names, more + 1, more));
}

const Meaning* meaning_of(const Recipe& recipe, std::string_view text) {
    const auto upper = base::upper(text);
    const auto found = std::ranges::find_if(recipe.meanings, [&](const Meaning& meaning) {
        return meaning.of == text ||
               (meaning.of.find('*') != std::string::npos && base::match(base::upper(meaning.of), upper));
    });
    return found == recipe.meanings.end() ? nullptr : &*found;
}

}  // namespace stapgen::recipe
