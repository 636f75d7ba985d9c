// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/build_facts.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/help/help.h"

namespace stapgen::cli {

namespace fs = std::filesystem;

std::string program_version() {
    return fmt::format("stapgen {}", base::build_facts.version);
}

std::string_view build_date() {
    return base::build_facts.date;
}

base::Result<std::string> recipe_hash(const fs::path& share) {
    std::vector<std::string> names{"workarounds.toml"};
    std::error_code error;
    for (const char* folder : {"tapsets", "templates"}) {
        // The build folder has links to the folders of the source.
        const auto top = fs::canonical(share / folder, error);
        for (const auto& entry : fs::recursive_directory_iterator(top, error)) {
            if (entry.is_regular_file(error)) {
                names.push_back((fs::path(folder) / entry.path().lexically_relative(top)).string());
            }
        }
    }
    std::ranges::sort(names);
    std::string list;
    for (const auto& name : names) {
        STAPGEN_LET(const auto text, base::read_file(share / name));
        list += fmt::format("{}  {}\n", base::sha256(text), name);
    }
    return base::sha256(list);
}

std::string version_text(const recipe::Program& program) {
    constexpr std::size_t shown_digits = 12;
    const auto hash = recipe_hash(program.files.workarounds.parent_path());
    auto recipes = hash ? hash->substr(0, shown_digits) : hash.error().what;
    recipes += hash == std::string(base::build_facts.recipes) ? ", as built" : ", changed since the build";
    const auto own = std::ranges::count_if(program.catalog.recipes, [&](const recipe::Recipe& recipe) {
        return recipe.folder.parent_path() != program.files.templates;
    });
    return fmt::format("{}\nbuild: git {}; {}\nrecipes: {} ({} of the user); sha256 of those installed {}",
                       program_version(), base::build_facts.revision, base::build_facts.compiler,
                       program.catalog.recipes.size(), own, recipes);
}

}  // namespace stapgen::cli
