#include <fmt/format.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/options/run_options.h"
#include "doctor/check_rows.h"
#include "launch/module_file.h"
#include "session/run.h"

namespace stapgen::cli {

namespace {

struct ExecOptions {
    std::string module;
    MeasureOptions measure;
};

base::Result<void> exec(const recipe::Program& program, const ExecOptions& options) {
    auto plan = plan_of(options.measure);
    if (!plan) return tl::make_unexpected(plan.error());
    auto module = launch::make_loadable(options.module);
    if (!module) return tl::make_unexpected(module.error());
    if (!module->info.systemtap) {
        return base::bad_input(fmt::format("{} was not made by SystemTap", options.module),
                               "name a file made by stapgen build");
    }
    if (auto has = session::check_module_has(plan->filters, options.module, module->info); !has) {
        return tl::make_unexpected(has.error());
    }
    const auto machine = launch::this_machine();
    doctor::Question question;
    question.target = host::inspect(*machine, {});
    question.to_compile = false;
    question.signed_module = module->info.is_signed;
    const auto& target = question.target;
    const auto checks = doctor::examine(*machine, question);
    if (auto can = doctor::able(checks, {}, target.distribution); !can) return can;
    if (module->info.release != target.release) {
        return base::cannot_here(
            fmt::format("{} is for kernel {}; {} runs here", options.module, module->info.release, target.release),
            fmt::format("make one with: stapgen build RECIPE -r {} -o FILE.ko", target.release));
    }
    recording::Setup made;
    made.hash_of = "module";
    auto recorder = session::Recorder::create(*machine, *plan, std::move(made), module->path);
    if (!recorder) return tl::make_unexpected(recorder.error());
    auto job = session::load_job_of(target, module->path, *plan);
    job.explanation = module::explanation(*machine, question);
    job.is_built = true;
    // Once it is loaded a kill -9 leaves no copy behind.
    job.loaded = [&] { module->copy.reset(); };
    return session::measure(*machine, program.catalog, std::move(job), options.module, *plan, recorder->get());
}

}  // namespace

void add_exec_command(CLI::App& app, const recipe::Program& program, Action& action) {
    auto options = std::make_shared<ExecOptions>();
    auto* command = app.add_subcommand("exec", "Run a module that build made, where there is no compiler");
    command->add_option("module", options->module, "The module's file, also packed")->required()->type_name("FILE");
    // Which of them the module's recipe has is known when the file is read.
    using recipe::Filter;
    add_filter_options(*command, {Filter::thread, Filter::port, Filter::address, Filter::device, Filter::mark},
                       options->measure.filters);
    add_measure_options(*command, options->measure);
    add_load_options(*command, options->measure);
    add_events(*command, options->measure);
    command->footer(
        "Which filters can be used, the recipe says that the module was made of.\n"
        "Examples:\n"
        "  stapgen exec rx.ko -d 10\n"
        "  stapgen exec rx.ko -x 31337 -d 10 -o rx.rec");
    command->callback(
        [&program, &action, options] { action = [&program, options] { return exec(program, *options); }; });
}

}  // namespace stapgen::cli
