// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <iostream>

#include "base/terminal.h"
#include "cli/commands/commands.h"
#include "cli/commands/dry_run.h"
#include "cli/options/option_table.h"
#include "module/make.h"

namespace stapgen::cli {

namespace {

base::Result<void> build(const Call& call, const BuildOptions& options) {
    const auto& recipe = *call.command.recipe;
    const auto& output = options.output;
    const bool quiet = options.quiet;
    const auto machine = launch::this_machine();
    STAPGEN_LET(auto preparation,
                module::prepare(call.program, *machine, recipe, options.make, module::Purpose::run_elsewhere));
    if (options.make.dry_run) {
        print_commands(preparation, nullptr);
        std::cout << fmt::format("# keeps the module as {} (-o)\n", output);
        if (!quiet) warn_if_impossible(output, "--output", true);
        return {};
    }
    STAPGEN_LET(const auto compiled, module::compile(*machine, preparation, quiet, options.verbose));
    STAPGEN_LET(auto module, base::read_file(compiled));
    STAPGEN_TRY(base::replace_file(output, module));
    if (!quiet) {
        base::print_message(fmt::format("{} is {} for {}, {} kB; run it there with 'stapgen exec {}'", output,
                                        recipe.name, preparation.job.target.release, module.size() / 1024, output));
    }
    return {};
}

}  // namespace

CommandSpec build_command(const recipe::Recipe& recipe) {
    CommandSpec command{"stapgen build", recipe.name, recipe.summary};
    auto& options = add_values<BuildOptions>(command, build);
    command.recipe = &recipe;
    command.examples = {fmt::format("stapgen build {0} -o {0}.ko", recipe.name)};
    auto make = make_options(recipe, options.make);
    command.options = joined({
        script_options(recipe, options.make),
        by_option(recipe, options.make),
        {option("-o,--output", "FILE", groups::output, "The module file to write", "", &options.output,
                {.required = true})},
        std::move(make),
        quiet_option(options.quiet),
        verbose_option(options.verbose),
    });
    return command;
}

}  // namespace stapgen::cli
