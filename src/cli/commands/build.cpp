#include <fmt/format.h>

#include <iostream>

#include "base/terminal.h"
#include "cli/commands/commands.h"
#include "cli/commands/dry_run.h"
#include "module/make.h"

namespace stapgen::cli {

base::Result<void> build(const recipe::Program& program, const recipe::Recipe& recipe, const Options& options) {
    const auto& output = *options.measure.output;
    const bool quiet = options.measure.quiet;
    const auto machine = launch::this_machine();
    auto preparation = module::prepare(program, *machine, recipe, options.make, module::Purpose::run_elsewhere);
    if (!preparation) return tl::make_unexpected(preparation.error());
    if (options.make.dry_run) {
        print_commands(*preparation, nullptr);
        std::cout << fmt::format("# keeps the module as {} (-o)\n", output);
        if (!quiet) tell_if_impossible(output, "--output", true);
        return {};
    }
    auto compiled = module::compile(*machine, *preparation, quiet, options.measure.verbose);
    if (!compiled) return tl::make_unexpected(compiled.error());
    auto module = base::read_file(compiled->module);
    if (!module) return tl::make_unexpected(module.error());
    if (auto written = base::replace_file(output, *module); !written) {
        return tl::make_unexpected(written.error());
    }
    if (!quiet) {
        base::tell(fmt::format("{} is {} for {}, {} kB; run it there with 'stapgen exec {}'", output, recipe.name,
                               preparation->job.target.release, module->size() / 1024, output));
    }
    return {};
}

}  // namespace stapgen::cli
