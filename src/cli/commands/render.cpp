// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "launch/child_process.h"
#include "module/make.h"
#include "render/filters.h"
#include "render/script.h"
#include "render/standalone.h"
#include "render/tapset_files.h"

namespace stapgen::cli {

namespace {

/// The filters, for whoever reads the script.
std::string about(const session::Filters& filters) {
    std::string text;
    for (const auto& [option, value] : filters.as_typed)
        text += fmt::format("// Only --{} {}{}\n", option, base::printable(value),
                            option.starts_with("target") ? fmt::format(": give stap -x {}", value) : "");
    return text;
}

/// One script with the parts of the tapsets that it uses, and with filters if any is asked of it.
base::Result<std::string> standalone_script(const Call& call, const RenderOptions& options) {
    const auto& recipe = *call.command.recipe;
    STAPGEN_LET(const auto filters, session::filters_of(*launch::this_machine(), options.filters, true));
    // It is to be written in.
    if (filters.missing) return tl::make_unexpected(*filters.missing);
    auto make = options.make;
    // A thread or a process stap is asked for.
    make.filters =
        std::ranges::any_of(filters.as_typed, [](const auto& typed) { return !typed.first.starts_with("target-"); });
    auto script = module::script_of(recipe, make);
    if (!script) return script;
    auto tapsets = render::read_tapsets(render::tapset_folders(call.program.files, make.debuginfo));
    STAPGEN_TRY(tapsets);
    script->insert(script->find('\n') + 1, about(filters));
    if (!make.filters) *tapsets = render::without_filters(*script, *tapsets);
    return render::with_tapsets(*script, render::with_filters(*tapsets, filters.globals),
                                render::macros_of(recipe, make.arguments, make.keep.value_or(0)));
}

base::Result<void> render(const Call& call, const RenderOptions& options) {
    if (!options.standalone && !options.filters.empty())
        return base::bad_input("filters are applied when the script runs; only --standalone writes them into it");
    STAPGEN_LET(const auto script, options.standalone ? standalone_script(call, options)
                                                      : module::script_of(*call.command.recipe, options.make));
    std::cout << script;
    return {};
}

}  // namespace

CommandSpec render_command(const recipe::Recipe& recipe) {
    CommandSpec command{"stapgen render", recipe.name, recipe.summary};
    auto& options = add_values<RenderOptions>(command, render);
    command.recipe = &recipe;
    command.examples = {fmt::format("stapgen render {0} --standalone >{0}.stp", recipe.name)};
    command.options = joined({
        script_options(recipe, options.make),
        by_option(recipe, options.make),
        filter_options(recipe.filters, options.filters),
        {{"--standalone", "", groups::output, "Include stapgen's tapset, for another machine",
          "contains the filters given here only", &options.standalone},
         {"-r,--release", "RELEASE", groups::compiling, "Accepted and ignored",
          "the script is the same for all kernels", &options.make.release}},
        debuginfo_option(options.make.debuginfo),
    });
    return command;
}

}  // namespace stapgen::cli
