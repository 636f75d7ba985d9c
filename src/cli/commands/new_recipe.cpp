// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <utility>

#include "base/files.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "recipe/recipe.h"

namespace stapgen::cli {

namespace {

namespace fs = std::filesystem;

base::Result<void> check_name(const CommandSpec& root, const recipe::Program& program, const std::string& name) {
    if (!recipe::is_name(name) || name.front() == '-') {
        return base::bad_input(fmt::format("new-recipe: '{}' is not a valid recipe name", base::printable(name)),
                               "use lower case letters, digits, - and _, for example tcp-reads");
    }
    const auto& recipes = program.catalog.recipes;
    const auto known = std::ranges::find(recipes, name, &recipe::Recipe::name);
    if (known != recipes.end()) {
        return base::bad_input(fmt::format("new-recipe: there is a recipe '{}': {}", name, known->folder.string()),
                               "choose another name; to override it, put a copy earlier in the search path");
    }
    if (const auto broken = program.catalog.broken.find(name); broken != program.catalog.broken.end()) {
        return base::bad_input(
            fmt::format("new-recipe: there is a recipe '{}', which cannot be used: {}", name, broken->second.what),
            "choose another name, or fix that one");
    }
    // The other commands are stapgen's own.
    if (command_named(root, name) != nullptr) {
        return base::bad_input(fmt::format("new-recipe: '{}' is a command of stapgen", name), "choose another name");
    }
    return {};
}

/// A file of the skeleton with the new name instead of its own.
base::Result<std::string> renamed(const fs::path& file, const std::string& name) {
    const auto own = file.parent_path().filename().string();
    return base::read_file(file).map([&](const std::string& text) { return boost::replace_all_copy(text, own, name); });
}

base::Result<void> new_recipe(const Call& call, const NewRecipeOptions& options) {
    if (auto good = check_name(call.root, call.program, options.name); !good) return good;
    constexpr std::array files{"recipe.toml", "script.stp"};
    fs::path parent = options.into;
    if (options.into.empty()) {
        const auto own = recipe::own_recipe_folder();
        if (!own) return base::bad_input("new-recipe: HOME is not set", "name a folder: --into DIR");
        parent = *own;
    }
    std::error_code error;
    fs::create_directories(parent, error);
    const auto folder = parent / options.name;
    // Fails where anything of that name is there, even a link to nowhere.
    if (error || !fs::create_directory(folder, error)) {
        std::error_code ignored;
        const bool is_there = fs::exists(fs::symlink_status(folder, ignored));
        return base::bad_input(
            fmt::format("new-recipe: cannot make {}: {}", folder.string(), is_there ? "it exists" : error.message()),
            "choose another name, or another folder with --into DIR");
    }
    for (const auto* file : files) {
        auto text = renamed(call.program.files.skeleton / file, options.name);
        auto written =
            text ? base::create_file(folder / file, *text) : base::Result<void>(tl::make_unexpected(text.error()));
        if (!written) {
            fs::remove_all(folder, error);
            return written;
        }
        // Only the user reads a user's own.
        if (parent == recipe::system_recipe_folder) fs::permissions(folder / file, fs::perms(0644), error);
    }
    const auto path = options.into.empty() ? std::string()
                                           : fmt::format("--recipe-path {} ",
                                                         base::shell_quoted({fs::absolute(parent, error).string()}));
    base::print_text(
        fmt::format("created {}: {}\n\nIt runs as it is. Next:\n", folder.string(), fmt::join(files, ", ")));
    for (const auto& [before, after] : {std::pair("show ", ""), {"render ", ""}, {"check ", ""}, {"", " -d 10"}})
        base::print_command(fmt::format("  stapgen {}{}{}{}", path, before, options.name, after));
    if (parent == recipe::system_recipe_folder) return {};
    std::vector<std::string> copy{"sudo", "install", "-D", "-m", "644", "-t"};
    copy.push_back((fs::path(recipe::system_recipe_folder) / options.name).string());
    for (const auto* file : files)
        copy.push_back((fs::absolute(folder, error) / file).string());
    base::print_text("With sudo, copy it after each change to where only root writes:\n");
    base::print_command("  " + base::shell_quoted(copy));
    base::print_command(fmt::format("  sudo stapgen {} -d 10", options.name));
    return {};
}

}  // namespace

CommandSpec new_recipe_command() {
    CommandSpec command{"stapgen", "new-recipe", "Create your own recipe: two files that run as they are"};
    command.rare = true;
    auto& options = add_values<NewRecipeOptions>(command, new_recipe);
    command.examples = {"stapgen new-recipe tcp-calls", "stapgen new-recipe tcp-calls --into ."};
    command.options = {option("name", "TEXT", groups::arguments, "Its name", "", &options.name, {.required = true}),
                       option("--into", "DIR", groups::other, "The folder to create it in", "", &options.into,
                              {.default_value = "~/.config/stapgen/recipes"})};
    return command;
}

}  // namespace stapgen::cli
