// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/run.h"

#include <fmt/format.h>

#include <iostream>

#include "base/terminal.h"
#include "cli/commands/commands.h"
#include "cli/commands/dry_run.h"
#include "cli/commands/keeping.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "doctor/doctor.h"
#include "host/counter_lines.h"
#include "host/keys.h"
#include "module/make.h"
#include "overhead/overhead.h"
#include "when/condition.h"

namespace stapgen::cli {

namespace {

base::Result<void> run_counters(const recipe::Program& program, const host::System& machine,
                                const recipe::Recipe& recipe, const module::MakeOptions& make,
                                session::MeasurePlan& plan) {
    const auto interval = module::interval_of(recipe, make);
    if (make.dry_run) {
        base::print_comment(
            "no script and no module: stapgen reads these itself, at the start, at each interval and at the end");
        for (const auto& source : host::counter_sources())
            std::cout << source << '\n';
        print_ending(plan);
        return {};
    }
    auto& made = plan.made;
    STAPGEN_LET(const auto recipe_hash, recipe::hash_of(recipe, made.parameters.emplace()));
    made.recipe_hash = recipe_hash;
    made.hash_of = "recipe";
    STAPGEN_LET(auto recorder, session::Recorder::create(machine, plan, recipe.folder / "recipe.toml"));
    STAPGEN_LET(auto keeper, session::Keeper::create(machine, plan, recipe.folder / "recipe.toml", recorder.get()));
    host::CounterLines lines(machine, recipe.header().line(), recipe.record.tag);
    return session::measure_counters(machine, program.catalog, lines, recipe.name, interval, plan, recorder.get(),
                                     keeper.get());
}

struct CostForecast {
    std::optional<std::int64_t> sample;  ///< one in this many sockets, for the budget; none if the user chose one
    std::string sentence;                ///< for the user; empty where nobody knows
};

/// For a budget or a dry run. The guard is compiled in.
CostForecast forecast_of(const host::System& machine, const recipe::Recipe& recipe, const module::MakeOptions& make,
                         const session::Filters& filters) {
    const auto& budget = make.budget;
    if (!budget && !make.dry_run) return {};
    const auto expected = overhead::expect_now(machine, recipe.asked_by(make.arguments), make.aggregate,
                                               budget ? overhead::budget_sample_window : overhead::sample_window);
    if (!expected) return {};
    const auto& chosen = filters.sample;
    const auto kept = budget && !chosen ? overhead::plan_budget(*budget, *expected)
                                        : overhead::plan_sample(chosen.value_or(1), *expected);
    return {chosen ? std::nullopt : std::optional(kept.one_in),
            "expected: " + overhead::sentence_of(*expected, kept, budget)};
}

base::Result<void> run(const Call& call, const RunOptions& options) {
    return run_recipe(call.program, *call.command.recipe, options);
}

}  // namespace

base::Result<void> run_recipe(const recipe::Program& program, const recipe::Recipe& recipe, const RunOptions& options) {
    auto make = options.make;
    const auto machine = launch::this_machine();
    STAPGEN_LET(auto plan, plan_of(*machine, options.measure, make.dry_run));
    base::print_message(plan.notes);
    const bool has_interval = make.interval || recipe.interval_s;
    if (plan.intervals && !has_interval) {
        return base::bad_input("-n needs intervals", "give -i too, for example -i 1 -n 10");
    }
    if (plan.keep) STAPGEN_TRY(use_keeping(recipe, make, *plan.keep));
    STAPGEN_LET(const auto aggregation, session::aggregation_of(recipe, make.aggregate, plan));
    if (!aggregation.note.empty()) base::print_message(aggregation.note);
    make.aggregate = aggregation.in_kernel;
    if (plan.live && !has_interval) make.interval = module::live_interval;
    const auto header = recipe.asked_by(make.arguments).header(recipe.by);
    if (auto can = session::check_groups(plan.presentation, header); !can) return can;
    for (const auto& field : plan.presentation.by.value_or(std::vector<std::string>())) {
        if (std::ranges::find(recipe.by, field) != recipe.by.end()) make.by.push_back(field);
    }
    if (recipe.source == recipe::Source::network_counters) {
        return run_counters(program, *machine, recipe, make, plan);
    }
    const auto [sample, expected] = forecast_of(*machine, recipe, make, plan.filters);
    if (sample) session::use_sample(*sample, plan.filters);
    if (!make.dry_run && !plan.quiet && !expected.empty()) base::print_message(expected);
    STAPGEN_LET(auto preparation, module::prepare(program, *machine, recipe, make, module::Purpose::run_here));
    const auto& target = preparation.job.target;
    if (make.dry_run) {
        auto load = session::load_job_of(target, "MODULE.ko", plan);
        load.options.is_signed = make.sign.has_value();
        print_commands(preparation, &load);
        print_ending(plan);
        if (!expected.empty()) base::print_comment(expected);
        return {};
    }
    auto& made = plan.made;
    made.hash_of = "script";
    made.recipe_hash = preparation.recipe_hash;
    if (auto parameters = recipe::complete_arguments(recipe, make.arguments)) made.parameters = *parameters;
    if (target.stap_version) made.stap_version = target.stap_version->text;
    STAPGEN_LET(auto recorder, session::Recorder::create(*machine, plan, preparation.job.options.script));
    STAPGEN_LET(auto keeper, session::Keeper::create(*machine, plan, preparation.job.options.script, recorder.get()));
    STAPGEN_LET(auto compiled, module::compile(*machine, preparation, plan.quiet, plan.verbose));
    const bool is_signed = make.sign.has_value();
    // From here on only the module is needed, and a kill -9 leaves no folder behind.
    if (!is_signed) preparation.folder.reset();
    STAPGEN_LET(auto info, launch::read_module_info(compiled));
    if (auto has = session::check_module_has(plan.filters, recipe.name, info); !has) return has;
    made.functions = std::move(info.functions);
    if (is_signed) {
        auto& question = preparation.question;
        question.signer = host::signer_of(*machine, compiled);
        const auto checks = doctor::examine(*machine, question);
        if (auto can = doctor::able(checks, question.subjects.front(), target.distribution); !can) return can;
    }
    auto job = session::load_job_of(target, compiled, plan);
    job.options.is_signed = is_signed;
    job.loaded = [&] { preparation.folder.reset(); };
    job.explanation = module::explanation(*machine, preparation.question);
    return session::measure(*machine, program.catalog, std::move(job), recipe.name, plan, recorder.get(), keeper.get());
}

CommandSpec run_command(const recipe::Recipe& recipe) {
    CommandSpec command{"stapgen", recipe.name, recipe.summary};
    auto& options = add_values<RunOptions>(command, run);
    command.recipe = &recipe;
    command.examples = recipe.examples;
    auto& measure = options.measure;
    const bool has_script = recipe.source == recipe::Source::script;
    command.options = joined({
        filter_options(recipe.filters, measure.filters),
        script_options(recipe, options.make),
        measure_options(measure, &recipe),
        recipe.stages.empty() ? OptionSpecs{} : events_option(measure),
        keep_options(measure.keep, !recipe.record.keeps),
        has_script ? load_options(measure) : OptionSpecs{},
        has_script ? make_options(recipe, options.make) : dry_run_option(options.make.dry_run),
        remote_option(measure.plan, groups::hidden),
    });
    if (!recipe.stages.empty()) exclude(command.options, "--keep", {"--events"});
    return command;
}

}  // namespace stapgen::cli
