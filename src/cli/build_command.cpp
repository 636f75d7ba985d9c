#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/compiling.h"
#include "cli/run_options.h"

namespace stapgen::cli {

namespace {

struct BuildOptions {
    MakeOptions make;
    std::string output;
    bool quiet = false, verbose = false;
};

base::Result<void> build(const Program& program, const recipe::Recipe& recipe, const BuildOptions& options) {
    const auto machine = launch::this_machine();
    auto preparation = prepare(program, *machine, recipe, options.make, Purpose::run_elsewhere);
    if (!preparation) return tl::make_unexpected(preparation.error());
    if (options.make.dry_run) {
        print_commands(*preparation, nullptr);
        return {};
    }
    auto compiled = compile(*preparation, options.quiet, options.verbose);
    if (!compiled) return tl::make_unexpected(compiled.error());
    auto module = base::read_file(compiled->module);
    if (!module) return tl::make_unexpected(module.error());
    if (auto written = base::replace_file(options.output, *module); !written) {
        return tl::make_unexpected(written.error());
    }
    if (!options.quiet) {
        std::cerr << fmt::format("stapgen: {} is {} for {}, {} kB; run it there with 'stapgen exec {}'\n",
                                 options.output, recipe.name, preparation->job.target.release, module->size() / 1024,
                                 options.output);
    }
    return {};
}

}  // namespace

void add_build_command(CLI::App& app, const Program& program, Action& action) {
    auto* command = app.add_subcommand("build", "Compile a recipe to a module, to run elsewhere with exec");
    command->require_subcommand(1);
    for (const auto& recipe : program.catalog.recipes) {
        if (recipe.source != recipe::Source::script) continue;
        auto options = std::make_shared<BuildOptions>();
        auto* one = command->add_subcommand(recipe.name, recipe.summary);
        one->add_option("-o,--output", options->output, "The module's file")->required();
        one->add_flag("-q,--quiet", options->quiet, "No progress on stderr");
        one->add_flag("-v,--verbose", options->verbose, "What stap says, on stderr");
        add_interval(*one, options->make.interval);
        add_make_options(*one, options->make);
        add_guru(*one, recipe, options->make.guru);
        add_parameters(*one, recipe, options->make.arguments);
        one->callback([&program, &recipe, &action, options] {
            action = [&program, &recipe, options] { return build(program, recipe, *options); };
        });
    }
}

}  // namespace stapgen::cli
