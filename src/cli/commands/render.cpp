#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/options/option_groups.h"
#include "cli/options/run_options.h"
#include "module/make.h"
#include "render/standalone.h"
#include "render/tapset_files.h"

namespace stapgen::cli {

namespace {

struct RenderOptions {
    bool standalone = false;
    std::string interval, release, debuginfo = "auto";
    bool aggregate = false;
    recipe::Arguments arguments;
};

base::Result<void> render(const recipe::Program& program, const recipe::Recipe& recipe, const RenderOptions& options) {
    auto interval = module::interval_of(options.interval, recipe);
    if (!interval) return tl::make_unexpected(interval.error());
    auto script = module::script_of(recipe, options.arguments, *interval, options.aggregate);
    if (!script) return tl::make_unexpected(script.error());
    if (options.standalone) {
        auto tapsets = render::read_tapsets(render::tapset_folders(program.files, options.debuginfo));
        if (!tapsets) return tl::make_unexpected(tapsets.error());
        *script = render::with_tapsets(*script, *tapsets);
    }
    std::cout << *script;
    return {};
}

}  // namespace

void add_render_command(CLI::App& app, const recipe::Program& program, Action& action) {
    auto* command = app.add_subcommand("render", "Print a recipe's SystemTap script and run nothing");
    command->require_subcommand(1);
    command->footer(
        "Examples:\n"
        "  stapgen render rx-latency\n"
        "  stapgen render dropwatch --interval 1 --standalone >dropwatch.stp");
    for (const auto& recipe : program.catalog.recipes) {
        if (recipe.source != recipe::Source::script) continue;
        auto options = std::make_shared<RenderOptions>();
        auto* one = command->add_subcommand(recipe.name, recipe.summary)->group(groups::recipes);
        one->footer(fmt::format("Examples:\n  stapgen render {0} --standalone >{0}.stp", recipe.name));
        add_parameters(*one, recipe, options->arguments);
        add_interval(*one, recipe, options->interval);
        add_aggregate(*one, recipe, options->aggregate);
        one->add_flag("--standalone", options->standalone, "With stapgen's tapset put in, to carry elsewhere")
            ->group(groups::output);
        one->add_option("-r,--release", options->release,
                        "Accepted for the kernel it is meant for; the script itself fits all of them")
            ->type_name("RELEASE")
            ->group(groups::compiling);
        add_debuginfo(*one, options->debuginfo);
        one->callback([&program, &recipe, &action, options] {
            action = [&program, &recipe, options] { return render(program, recipe, *options); };
        });
    }
}

}  // namespace stapgen::cli
