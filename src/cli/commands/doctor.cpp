// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "module/make.h"
#include "recipe/kernels.h"
#include "show/document.h"

namespace stapgen::cli {

namespace {

bool needs_module(const doctor::Question& question) {
    return !std::ranges::all_of(question.subjects, &doctor::Subject::reads_counters);
}

base::Result<doctor::Question> question_of_file(const host::System& machine, const DoctorOptions& options) {
    if (options.recipes.size() > 1 || options.warm || !options.make.release.empty()) {
        return base::bad_input("doctor FILE.ko checks one module on this machine",
                               "give one file, without -r and --warm");
    }
    const auto& file = options.recipes.front();
    const auto module = launch::make_loadable(file);
    return module ? module::question_of(machine, *module, file) : tl::make_unexpected(module.error());
}

/// Those that were named; all of them where none was.
base::Result<std::vector<recipe::Recipe>> recipes_of(const recipe::Program& program, const DoctorOptions& options) {
    if (options.recipes.empty()) return program.catalog.recipes;
    std::vector<recipe::Recipe> recipes;
    for (const auto& name : options.recipes) {
        STAPGEN_LET(auto one, recipe::find_recipe(program.catalog, name));
        recipes.push_back(std::move(one));
    }
    return recipes;
}

base::Result<std::vector<doctor::Subject>> subjects_of(const recipe::Program& program,
                                                       const std::vector<recipe::Recipe>& recipes,
                                                       const module::MakeOptions& options) {
    std::vector<doctor::Subject> subjects;
    for (const auto& each : recipes) {
        STAPGEN_LET(auto subject, module::subject_of(program, each, options));
        STAPGEN_LET(auto kernels, recipe::kernels_of(each, program.files));
        subject.kernels = std::move(kernels);
        subjects.push_back(std::move(subject));
    }
    return subjects;
}

std::string_view blocks_name(doctor::Blocks blocks) {
    switch (blocks) {
        case doctor::Blocks::nothing:
            return "nothing";
        case doctor::Blocks::loading:
            return "loading";
        case doctor::Blocks::compiling:
            return "compiling";
        case doctor::Blocks::functions:
            break;
    }
    return "functions";
}

/// As in the table, but for the word that the first version of the schema had.
std::string_view json_state(doctor::State state) {
    return state == doctor::State::worked_around ? "cured" : doctor::state_name(state);
}

using table::Key, table::Separate, table::Known, table::About, table::Shape;

struct RemedyRow {
    std::string text;
    std::optional<table::Labels> commands;  ///< by family of distributions

    static constexpr About about{.name = "remedy"};
    static constexpr void columns(auto&& column) {
        column(Separate(), "text", &RemedyRow::text);
        column(Separate(), "commands", &RemedyRow::commands);
    }
};

struct CheckRow {
    doctor::Check check;
    std::optional<RemedyRow> remedy;

    static constexpr About about{.name = "checks"};
    static constexpr void columns(auto&& column) {
        column(Key(), "check", [](const CheckRow& row) { return row.check.id; });
        column(Separate(), "state", [](const CheckRow& row) { return json_state(row.check.state); });
        column(Separate(), "blocks", [](const CheckRow& row) { return blocks_name(row.check.blocks); });
        column(Separate(), "found", [](const CheckRow& row) { return row.check.found; });
        column(Separate(), Known("cure"), [](const CheckRow& row) { return row.check.workaround; });
        column(Separate(), "remedy", &CheckRow::remedy);
    }
};

struct DoctorReport {
    host::Target target;
    doctor::Verdict verdict;
    std::vector<CheckRow> checks;

    static constexpr About about{.name = "report", .shape = Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Separate(), "release", [](const DoctorReport& row) { return row.target.release; });
        column(Separate(), "running", [](const DoctorReport& row) { return row.target.running; });
        column(Separate(), "able", [](const DoctorReport& row) { return row.verdict.able; });
        column(Separate(), "unable", [](const DoctorReport& row) { return row.verdict.unable; });
        column(Separate(), "verdict", [](const DoctorReport& row) { return row.verdict.what; });
        column(Separate(), "first", [](const DoctorReport& row) { return row.verdict.first; });
        column(Separate(), "checks", &DoctorReport::checks);
    }
};

std::vector<CheckRow> rows_of(const std::vector<doctor::Check>& checks, host::Distribution distribution) {
    std::vector<CheckRow> rows;
    for (const auto& check : checks) {
        auto& row = rows.emplace_back(CheckRow{check, {}});
        const auto text = doctor::remedy_text(check.remedy, distribution);
        if (text.empty()) continue;
        row.remedy = {text, {}};
        if (const auto& [debian, redhat, suse] = check.remedy.commands; !debian.empty())
            row.remedy->commands = {{"debian", debian}, {"redhat", redhat}, {"suse", suse}};
    }
    return rows;
}

base::Result<doctor::Question> question_of_recipes(const recipe::Program& program, const host::System& machine,
                                                   const std::vector<recipe::Recipe>& recipes,
                                                   const DoctorOptions& options) {
    STAPGEN_LET(auto subjects, subjects_of(program, recipes, options.make));
    auto question = module::question_of(program, machine, options.make, module::Purpose::run_here, std::move(subjects));
    // For another kernel a module can only be made here.
    if (question) question->to_load = question->target.running || !needs_module(*question);
    return question;
}

base::Result<void> doctor(const Call& call, const DoctorOptions& options) {
    const auto& program = call.program;
    const auto machine = launch::this_machine();
    base::Result<doctor::Question> question;
    if (std::ranges::any_of(options.recipes, launch::names_file)) {
        question = question_of_file(*machine, options);
    } else {
        STAPGEN_LET(const auto recipes, recipes_of(program, options));
        if (options.warm) return module::warm(program, *machine, recipes, options.make);
        question = question_of_recipes(program, *machine, recipes, options);
    }
    STAPGEN_TRY(question);
    const auto& target = question->target;
    std::vector<doctor::Check> checks;
    if (needs_module(*question)) {
        checks = doctor::examine(*machine, *question);
        if (options.recipes.empty()) checks.push_back(doctor::lab(*machine));
        checks = doctor::most_urgent_first(std::move(checks));
    }
    const auto verdict = doctor::conclude(checks, *question);
    const auto screen = base::screen_of(STDOUT_FILENO, colours_of(options.color));
    const bool is_table = options.format == "table";
    if (options.format == "json") {
        const DoctorReport report{target, verdict, rows_of(checks, target.distribution)};
        show::put_json(std::cout, show::document("stapgen.doctor/1", report), 2);
    } else if (options.format == "csv") {
        show::put_csv(std::cout, rows_of(checks, target.distribution));
    } else {
        std::cout << doctor::rows_text(checks, target.distribution, screen);
    }
    if (!verdict.unable.empty()) return base::cannot_here(verdict.what, verdict.first);
    if (is_table) {
        const auto text = base::fitted(fmt::format("{}: {}\n", verdict.what, verdict.first), screen.width);
        std::cout << (screen.colours ? base::painted(text, base::Ink::good) : text);
    }
    return {};
}

}  // namespace

CommandSpec doctor_command() {
    CommandSpec command{"stapgen", "doctor", "Check if recipes or a module will run here; if not, what to do"};
    auto& options = add_values<DoctorOptions>(command, doctor);
    command.examples = {"stapgen doctor rx-latency", "stapgen doctor rx.ko",
                        "stapgen doctor -r 6.12.117+deb13-amd64 --symbols kallsyms.gz",
                        "stapgen doctor --warm rx-latency tx-latency"};
    command.options = joined({
        {{"recipe", "RECIPE", groups::arguments, "Their names, or a module's file (rx.ko)", "without one, all",
          &options.recipes},
         {"--warm", "", groups::other, "Compile them now, so that their first run starts faster", "takes minutes",
          &options.warm}},
        target_options(options.make),
        no_workaround_option(options.make),
        format_options(options.format, {"table", "json", "csv"}),
        color_option(options.color),
    });
    exclude(command.options, "--warm", {"--format", "--json"});
    return command;
}

}  // namespace stapgen::cli
