#include "session/run.h"

#include <iostream>
#include <memory>

#include "base/terminal.h"
#include "cli/commands/commands.h"
#include "cli/commands/dry_run.h"
#include "cli/options/option_groups.h"
#include "cli/options/run_options.h"
#include "doctor/check_rows.h"
#include "host/counter_lines.h"
#include "module/make.h"
#include "overhead/budget.h"

namespace stapgen::cli {

namespace {

struct RunOptions {
    module::MakeOptions make;
    MeasureOptions measure;
};

base::Result<void> run_counters(const recipe::Program& program, const host::System& machine,
                                const recipe::Recipe& recipe, const RunOptions& options,
                                const session::MeasurePlan& plan) {
    auto interval = module::interval_of(options.make.interval, recipe);
    if (!interval) return tl::make_unexpected(interval.error());
    if (options.make.dry_run) {
        std::cout << "# no script and no module: stapgen reads these itself, at the beginning, at the end of each "
                     "interval and at the end\n";
        for (const auto& source : host::counter_sources())
            std::cout << source << '\n';
        print_ending(plan);
        return {};
    }
    recording::Setup made;
    made.parameters.emplace();
    made.hash_of = "recipe";
    auto recorder = session::Recorder::create(machine, plan, std::move(made), recipe.folder / "recipe.toml");
    if (!recorder) return tl::make_unexpected(recorder.error());
    host::CounterLines lines(machine, recipe.header().line(), recipe.record.tag);
    return session::measure_counters(machine, program.catalog, lines, recipe.name, *interval, plan, recorder->get());
}

/// What is expected, in a sentence, for a budget or a dry run; empty where nobody knows. Chooses the sample that a
/// budget needs, if none is asked for. The guard is compiled in.
base::Result<std::string> expect_cost(const host::System& machine, const recipe::Recipe& recipe,
                                      const RunOptions& options, session::MeasurePlan& plan) {
    std::optional<double> budget;
    if (!options.make.budget.empty()) {
        const auto typed = overhead::parse_budget(options.make.budget);
        if (!typed) return tl::make_unexpected(typed.error());
        budget = *typed;
    }
    if (!budget && !options.make.dry_run) return {};
    const auto expected = overhead::expect_now(machine, recipe, options.make.aggregate,
                                               budget ? overhead::budget_glance : overhead::glance);
    if (!expected) return {};
    const auto& chosen = options.measure.filters.sample;
    const auto kept = budget && !chosen ? overhead::plan_budget(*budget, *expected)
                                        : overhead::plan_sample(chosen.value_or(1), *expected);
    if (!chosen) session::use_sample(kept.one_in, plan.filters);
    return "expected: " + overhead::sentence_of(*expected, kept, budget);
}

base::Result<void> run(const recipe::Program& program, const recipe::Recipe& recipe, RunOptions options) {
    auto plan = plan_of(options.measure, options.make.dry_run);
    if (!plan) return tl::make_unexpected(plan.error());
    if (plan->intervals && options.make.interval.empty() && !recipe.interval_s) {
        return base::bad_input("-n counts intervals, and there are none", "give -i too, for example -i 1 -n 10");
    }
    const auto aggregate = session::aggregates(recipe, options.make.aggregate, *plan);
    if (!aggregate) return tl::make_unexpected(aggregate.error());
    options.make.aggregate = *aggregate;
    if (plan->live && options.make.interval.empty() && !recipe.interval_s)
        options.make.interval = module::live_interval;
    if (auto can = report::check_groups(plan->presentation, recipe.header()); !can) return can;
    const auto machine = launch::this_machine();
    if (recipe.source == recipe::Source::network_counters) {
        return run_counters(program, *machine, recipe, options, *plan);
    }
    const auto expected = expect_cost(*machine, recipe, options, *plan);
    if (!expected) return tl::make_unexpected(expected.error());
    if (!options.make.dry_run && !plan->quiet && !expected->empty()) base::tell(*expected);
    auto preparation = module::prepare(program, *machine, recipe, options.make, module::Purpose::run_here);
    if (!preparation) return tl::make_unexpected(preparation.error());
    const auto& target = preparation->job.target;
    if (options.make.dry_run) {
        const auto load = session::load_job_of(target, "MODULE.ko", *plan);
        print_commands(*preparation, &load);
        print_ending(*plan);
        if (!expected->empty()) std::cout << "# " << *expected << '\n';
        return {};
    }
    recording::Setup made;
    made.hash_of = "script";
    if (auto parameters = recipe::complete_arguments(recipe, options.make.arguments)) made.parameters = *parameters;
    if (target.stap_version) made.stap_version = target.stap_version->text;
    auto recorder = session::Recorder::create(*machine, *plan, std::move(made), preparation->job.options.script);
    if (!recorder) return tl::make_unexpected(recorder.error());
    auto compiled = module::compile(*machine, *preparation, plan->quiet, plan->verbose);
    if (!compiled) return tl::make_unexpected(compiled.error());
    // From here on only the module is needed, and a kill -9 leaves no folder behind.
    preparation->folder.reset();
    if (!plan->filters.used.empty()) {
        auto info = launch::read_module_info(compiled->module);
        if (!info) return tl::make_unexpected(info.error());
        if (auto has = session::check_module_has(plan->filters, recipe.name, *info); !has) return has;
    }
    auto job = session::load_job_of(target, compiled->module, *plan);
    job.explanation = module::explanation(*machine, preparation->question);
    return session::measure(*machine, program.catalog, std::move(job), recipe.name, *plan, recorder->get());
}

}  // namespace

void add_run_command(CLI::App& app, const recipe::Program& program, const recipe::Recipe& recipe, Action& action) {
    auto options = std::make_shared<RunOptions>();
    auto* command = app.add_subcommand(recipe.name, recipe.summary)->group(groups::recipes);
    add_filter_options(*command, recipe.filters, options->measure.filters);
    add_parameters(*command, recipe, options->make.arguments);
    add_interval(*command, recipe, options->make.interval);
    add_aggregate(*command, recipe, options->make.aggregate);
    add_measure_options(*command, options->measure);
    if (!recipe.stages.empty()) add_events(*command, options->measure);
    if (recipe.source == recipe::Source::script) {
        add_load_options(*command, options->measure);
        add_make_options(*command, options->make);
        add_guru(*command, recipe, options->make.guru);
    } else {
        add_dry_run(*command, options->make.dry_run);
    }
    std::string examples = "Examples:";
    for (const auto& example : recipe.examples)
        examples += "\n  " + example;
    command->footer(examples);
    command->callback([&program, &recipe, &action, options] {
        action = [&program, &recipe, options] { return run(program, recipe, *options); };
    });
}

}  // namespace stapgen::cli
