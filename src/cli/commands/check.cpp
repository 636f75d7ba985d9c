// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "base/terminal.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "module/make.h"

namespace stapgen::cli {

namespace {

/// `make`: one form of what the options ask for.
base::Result<void> check(const Call& call, const CheckOptions& options, const module::MakeOptions& make,
                         bool with_notes) {
    const auto& recipe = *call.command.recipe;
    const auto machine = launch::this_machine();
    const bool quiet = options.quiet;
    STAPGEN_LET(auto preparation,
                module::prepare(call.program, *machine, recipe, make, module::Purpose::run_elsewhere));
    if (!with_notes) preparation.notes.clear();
    STAPGEN_TRY(module::compile(*machine, preparation, quiet, options.verbose));
    if (!quiet) {
        base::print_text(fmt::format("{}{}: compiles for {}\n", recipe.name, make.aggregate ? " --aggregate" : "",
                                     preparation.job.target.release));
    }
    return {};
}

base::Result<void> check_recipe(const Call& call, const CheckOptions& options) {
    const auto& recipe = *call.command.recipe;
    const bool quiet = options.quiet;
    if (recipe.source != recipe::Source::script) {
        if (!quiet)
            base::print_text(fmt::format("{}: recipe.toml is valid; there is no script to compile\n", recipe.name));
        return {};
    }
    std::vector<module::MakeOptions> forms(recipe.record.aggregates ? 2 : 1, options.make);
    forms.back().aggregate = recipe.record.aggregates;
    for (const auto& form : forms) {
        STAPGEN_TRY(module::script_of(recipe, form));
    }
    for (const auto& form : forms) {
        // The workarounds are those of the kernel: said once.
        auto done = check(call, options, form, &form == &forms.front());
        if (done) continue;
        if (done.error().kind == base::ErrorKind::cannot_here && !quiet)
            base::print_text(
                fmt::format("{}: recipe.toml is valid, and so is what it fills into script.stp\n", recipe.name));
        return done;
    }
    return {};
}

}  // namespace

CommandSpec check_command(const recipe::Recipe& recipe) {
    CommandSpec command{"stapgen check", recipe.name, recipe.summary};
    auto& options = add_values<CheckOptions>(command, check_recipe);
    command.recipe = &recipe;
    command.examples = {fmt::format("stapgen check {}", recipe.name)};
    if (recipe.source == recipe::Source::script)
        command.options = joined({script_options(recipe, options.make), make_options(recipe, options.make)});
    std::erase_if(command.options, [](const OptionSpec& option) { return option.names == "--dry-run"; });
    for (auto& common : {quiet_option(options.quiet), verbose_option(options.verbose)})
        command.options.insert(command.options.end(), common.begin(), common.end());
    return command;
}

}  // namespace stapgen::cli
