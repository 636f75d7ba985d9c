// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "base/files.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "doctor/doctor.h"
#include "launch/module_file.h"
#include "module/make.h"
#include "session/run.h"

namespace stapgen::cli {

namespace {

base::Result<void> exec(const Call& call, const ExecOptions& options) {
    const auto machine = launch::this_machine();
    STAPGEN_LET(auto plan, plan_of(*machine, options.measure, false));
    base::print_message(plan.notes);
    auto module = launch::make_loadable(options.module);
    STAPGEN_TRY(module);
    STAPGEN_TRY(session::check_module_has(plan.filters, options.module, module->info));
    STAPGEN_LET(const auto question, module::question_of(*machine, *module, options.module));
    const auto& target = question.target;
    const auto checks = doctor::examine(*machine, question);
    if (auto can = doctor::able(checks, question.subjects.front(), target.distribution); !can) return can;
    auto& made = plan.made;
    made.hash_of = "module";
    made.functions = module->info.functions;
    made.recipe_hash = module->info.recipe_hash;
    if (made.recipe_hash.empty()) {
        // A module of no known recipe: this module's numbers add up with this module's only.
        STAPGEN_LET(const auto content, base::read_file(module->path));
        made.recipe_hash = base::sha256(content);
    }
    STAPGEN_LET(auto recorder, session::Recorder::create(*machine, plan, module->path));
    STAPGEN_LET(auto keeper, session::Keeper::create(*machine, plan, module->path, recorder.get()));
    auto job = session::load_job_of(target, module->path, plan);
    job.explanation = module::explanation(*machine, question);
    job.is_built = true;
    job.options.is_signed = module->info.is_signed;
    // Once it is loaded a kill -9 leaves no copy behind.
    job.loaded = [&] { module->copy.reset(); };
    return session::measure(*machine, call.program.catalog, std::move(job), options.module, plan, recorder.get(),
                            keeper.get());
}

}  // namespace

CommandSpec exec_command() {
    using recipe::Filter;
    CommandSpec command{"stapgen", "exec", "Run a module made by 'stapgen build'; needs no compiler"};
    auto& options = add_values<ExecOptions>(command, exec);
    command.notes = "The module's recipe decides which filters it takes.\n";
    command.examples = {"stapgen exec rx.ko -d 10", "stapgen exec rx.ko -x 31337 -d 10 -o rx.rec"};
    command.options = joined({
        {option("module", "FILE", groups::arguments, "The module file, may be compressed", "", &options.module,
                {.required = true})},
        // Which of them the module's recipe has is known when the file is read.
        filter_options(
            {Filter::thread, Filter::packet, Filter::sample, Filter::device, Filter::mark, Filter::container},
            options.measure.filters),
        measure_options(options.measure),
        load_options(options.measure),
        events_option(options.measure),
        keep_options(options.measure.keep, true),
        remote_option(options.measure.plan, groups::running),
    });
    exclude(command.options, "--remote", {"--output", "--events"});
    exclude(command.options, "--keep", {"--events"});
    return command;
}

}  // namespace stapgen::cli
