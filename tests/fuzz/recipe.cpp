// SPDX-License-Identifier: GPL-2.0-or-later
#include "recipe/recipe.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "fuzz.h"
#include "host/workarounds.h"
#include "memory_file.h"
#include "recipe/kernels.h"
#include "render/script.h"

namespace {

using namespace stapgen;

void check_error(const base::Error& error) {
    fuzz::always(error.kind == base::ErrorKind::bad_input && !error.what.empty() && !error.hint.empty());
}

/// What load_recipe() lets pass can be used.
void check_recipe(const recipe::Recipe& recipe) {
    fuzz::always(!recipe.name.empty() && !recipe.record.tag.empty() && !recipe.record.fields.empty());
    const auto arguments = recipe::complete_arguments(recipe, {});
    fuzz::always(arguments.has_value());
    for (const auto& parameter : recipe.parameters)
        fuzz::always(arguments->contains(parameter.name));
    fuzz::always(recipe.header().line().find('\n') == std::string::npos);
    const auto script = render::render_script(recipe, "# <%&summary%>\nprintln(\"<%&header%>\")\n", {}, {});
    fuzz::always(script && script->find(recipe.summary) != std::string::npos);
}

}  // namespace

/// The three kinds of TOML that are read: recipe.toml, kernels.toml, workarounds.toml.
FUZZ_TARGET(recipe) {
    // The name of the folder is the recipe's; what is in it changes.
    static const auto folder = base::PrivateDirectory::create().value();
    static const auto link = folder.path() / "recipe.toml";
    const fuzz::MemoryFile file(data, size);
    std::filesystem::remove(link);
    std::filesystem::create_symlink(file.path(), link);

    // What it includes, by any name, is itself.
    const auto refuse = [](const std::string&) -> base::Result<recipe::Recipe> { return base::bad_input("no", "no"); };
    const auto find = [&](const std::string&) { return recipe::load_recipe(folder.path(), refuse); };
    if (const auto recipe = recipe::load_recipe(folder.path(), find)) {
        check_recipe(*recipe);
    } else {
        check_error(recipe.error());
    }
    if (const auto ranges = recipe::kernels_of("rx-latency", link); !ranges) check_error(ranges.error());
    if (const auto workarounds = host::parse_workarounds(fuzz::text_of(data, size), "workarounds.toml")) {
        for (const auto& workaround : *workarounds)
            fuzz::always(!workaround.when.empty() && !(workaround.kbuild.empty() && workaround.patches.empty()));
    } else {
        check_error(workarounds.error());
    }
    return 0;
}
