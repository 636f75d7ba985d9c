#include "recipe/catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "recipe/load_recipe.h"

namespace stapgen::recipe {

namespace {

base::Result<Recipe> load_as(const std::filesystem::path& folder, const std::string& name,
                             const decltype(RecipeFolder::check)& check) {
    if (const auto allowed = check ? check(folder) : base::Result<void>(); !allowed) {
        return base::bad_input(fmt::format("the recipe '{}' is not read: {}", name, allowed.error().what),
                               allowed.error().hint);
    }
    auto recipe = load_recipe(folder);
    if (recipe && recipe->name != name) {
        return base::bad_input(fmt::format("{}: the recipe's name is '{}' and its folder's '{}'",
                                           (folder / "recipe.toml").string(), recipe->name, name),
                               "give both the same name");
    }
    return recipe;
}

}  // namespace

Catalog load_catalog(const std::vector<RecipeFolder>& folders) {
    Catalog catalog;
    std::map<std::string, Recipe> by_name;
    for (const auto& [folder, check] : folders) {
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
            const auto name = entry.path().filename().string();
            if (!std::filesystem::exists(entry.path() / "recipe.toml", error)) continue;
            if (by_name.contains(name) || catalog.broken.contains(name)) continue;
            if (auto recipe = load_as(entry.path(), name, check)) {
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
    const auto meant = base::did_you_mean(name, names);
    return base::bad_input(fmt::format("there is no recipe '{}'", base::printable(name)),
                           meant ? fmt::format("did you mean '{}'? 'stapgen list' shows them all", *meant)
                                 : "'stapgen list' shows them all");
}

const Meaning* meaning_of(const Recipe& recipe, std::string_view text) {
    const auto found = std::ranges::find_if(
        recipe.meanings, [&](const Meaning& meaning) { return base::match(meaning.of, text).has_value(); });
    return found == recipe.meanings.end() ? nullptr : &*found;
}

}  // namespace stapgen::recipe
