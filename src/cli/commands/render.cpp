#include <iostream>

#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "module/make.h"
#include "render/standalone.h"
#include "render/tapset_files.h"

namespace stapgen::cli {

namespace {

base::Result<void> render(const Call& call) {
    const auto& [program, root, command, options] = call;
    auto script = module::script_of(*command.recipe, options.make);
    if (!script) return tl::make_unexpected(script.error());
    if (options.standalone) {
        auto tapsets = render::read_tapsets(render::tapset_folders(program.files, options.make.debuginfo));
        if (!tapsets) return tl::make_unexpected(tapsets.error());
        *script = render::with_tapsets(*script, *tapsets);
    }
    std::cout << *script;
    return {};
}

}  // namespace

CommandSpec render_command(const recipe::Recipe& recipe, Options& options) {
    CommandSpec command{render, "stapgen render", recipe.name, recipe.summary};
    command.recipe = &recipe;
    command.examples = {fmt::format("stapgen render {0} --standalone >{0}.stp", recipe.name)};
    command.options = joined({
        script_options(recipe, options.make),
        {{"--standalone", "", groups::output, "With stapgen's tapset put in, to carry elsewhere", "",
          &options.standalone},
         {"-r,--release", "RELEASE", groups::compiling, "Accepted for the kernel it is meant for",
          "the script itself fits all of them", &options.make.release}},
        debuginfo_option(options.make.debuginfo),
    });
    return command;
}

}  // namespace stapgen::cli
