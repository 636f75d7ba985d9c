#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "base/terminal.h"
#include "cli/commands/commands.h"
#include "cli/commands/dry_run.h"
#include "cli/options/option_groups.h"
#include "cli/options/run_options.h"
#include "module/make.h"

namespace stapgen::cli {

namespace {

struct BuildOptions {
    module::MakeOptions make;
    std::string output;
    bool quiet = false, verbose = false;
};

base::Result<void> build(const recipe::Program& program, const recipe::Recipe& recipe, const BuildOptions& options) {
    const auto machine = launch::this_machine();
    auto preparation = module::prepare(program, *machine, recipe, options.make, module::Purpose::run_elsewhere);
    if (!preparation) return tl::make_unexpected(preparation.error());
    if (options.make.dry_run) {
        print_commands(*preparation, nullptr);
        std::cout << fmt::format("# keeps the module as {} (-o)\n", options.output);
        if (!options.quiet) tell_if_impossible(options.output, "--output", true);
        return {};
    }
    auto compiled = module::compile(*machine, *preparation, options.quiet, options.verbose);
    if (!compiled) return tl::make_unexpected(compiled.error());
    auto module = base::read_file(compiled->module);
    if (!module) return tl::make_unexpected(module.error());
    if (auto written = base::replace_file(options.output, *module); !written) {
        return tl::make_unexpected(written.error());
    }
    if (!options.quiet) {
        base::tell(fmt::format("{} is {} for {}, {} kB; run it there with 'stapgen exec {}'", options.output,
                               recipe.name, preparation->job.target.release, module->size() / 1024, options.output));
    }
    return {};
}

}  // namespace

void add_build_command(CLI::App& app, const recipe::Program& program, Action& action) {
    auto* command = app.add_subcommand("build", "Compile a recipe to a module, to run elsewhere with exec");
    command->require_subcommand(1);
    command->footer(
        "The options of a recipe's own are those it is run with.\n"
        "Examples:\n"
        "  stapgen build rx-latency -o rx.ko\n"
        "  stapgen build rx-latency -r 6.1.0-56-amd64 --symbols kallsyms.gz -o rx.ko");
    for (const auto& recipe : program.catalog.recipes) {
        if (recipe.source != recipe::Source::script) continue;
        auto options = std::make_shared<BuildOptions>();
        auto* one = command->add_subcommand(recipe.name, recipe.summary)->group(groups::recipes);
        one->footer(fmt::format("Examples:\n  stapgen build {0} -o {0}.ko", recipe.name));
        add_parameters(*one, recipe, options->make.arguments);
        add_interval(*one, recipe, options->make.interval);
        add_aggregate(*one, recipe, options->make.aggregate);
        one->add_option("-o,--output", options->output, "The module's file, to be made")
            ->required()
            ->type_name("FILE")
            ->group(groups::output);
        add_make_options(*one, options->make);
        add_guru(*one, recipe, options->make.guru);
        add_quiet(*one, options->quiet);
        add_verbose(*one, options->verbose);
        one->callback([&program, &recipe, &action, options] {
            action = [&program, &recipe, options] { return build(program, recipe, *options); };
        });
    }
}

}  // namespace stapgen::cli
