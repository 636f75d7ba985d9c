// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <set>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "session/measured_facts.h"
#include "session/presentation.h"
#include "session/replay.h"

namespace stapgen::cli {

namespace {

/// It measures both directions.
constexpr std::string_view recipe_name = "net-latency";
/// Formats in which why is answered; the others report.
const std::set<std::string> answers{"json", "ndjson", "csv"};

base::Result<void> explain(const Call& call, const WhyOptions& options) {
    const auto& measure = options.run.measure;
    const auto& make = options.run.make;
    if (!measure.filters.empty() || measure.plan.duration || measure.plan.output || make.dry_run ||
        !make.arguments.empty()) {
        return base::bad_input(
            "why RECORDING... measures nothing: filters, -d, -o, --who and --dry-run are for "
            "measurements",
            "'stapgen report --port' and its like select records");
    }
    STAPGEN_LET(auto presentation, presentation_of(measure.present));
    std::vector<std::filesystem::path> files;
    for (const auto& word : options.recordings) {
        std::error_code error;
        if (word != "-" && !std::filesystem::exists(word, error) && !error) {
            return base::bad_input(
                fmt::format("{} is no recording: there is no such file", base::printable(word)),
                "to measure, select packets by options: --port N, -p PID, --comm THREAD, --addr ADDRESS");
        }
        STAPGEN_LET(auto more, files_at(word));
        std::ranges::move(more, std::back_inserter(files));
    }
    STAPGEN_LET(auto reports, session::load(files, presentation, {}));
    for (auto& measured : reports) {
        if (!measured.has<rows::Stage>() || measured.counts()) {
            return base::bad_input(
                fmt::format("why: records of {} have no stages to explain", base::printable(measured.recipe)),
                "'stapgen report' shows what is in it; 'stapgen why -o FILE' and net-latency make recordings for why");
        }
        session::put_meanings(measured, call.program.catalog);
    }
    session::present(std::cout, reports, presentation);
    return {};
}

base::Result<void> why(const Call& call, const WhyOptions& typed) {
    auto options = typed;
    auto& format = options.run.measure.present.format;
    if (answers.contains(format)) format.insert(0, "why-");
    if (!options.recordings.empty()) return explain(call, options);
    if (!options.recipe) {
        return base::bad_input(fmt::format("why measures with the recipe {}, which does not exist", recipe_name),
                               "'stapgen list' shows the recipes; 'stapgen why FILE' reads a recording");
    }
    return run_recipe(call.program, *options.recipe, options.run);
}

/// The options of a run that an answer at its end has a use for.
OptionSpecs answer_options(OptionSpecs options) {
    static const std::set<std::string> kept{"--duration", "--output", "--format", "--json",
                                            "--color",    "--label",  "--rotate", "--quiet"};
    std::erase_if(options, [](const OptionSpec& option) { return !kept.contains(long_name(option)); });
    for (auto& option : options) {
        auto& choices = option.rules.choices;
        if (long_name(option) != "--format") continue;
        std::erase_if(choices, [](const std::string& name) { return show::format_named(name).is_trace; });
        choices.insert(choices.begin(), "why");
        option.more = "why: the answer, on a terminal in 15 lines; json, ndjson, csv: the same; the others report";
    }
    return options;
}

/// The recipe's own options.
OptionSpecs who_option(OptionSpecs options) {
    std::erase_if(options, [](const OptionSpec& option) { return long_name(option) != "--who"; });
    return options;
}

}  // namespace

CommandSpec why_command(const recipe::Catalog& catalog) {
    CommandSpec command{"stapgen", "why", "Why packets take as long as they do: what they waited for"};
    auto& options = add_values<WhyOptions>(command, why);
    auto& measure = options.run.measure;
    options.run.make.aggregate = true;
    measure.present.format = "why";
    measure.live = "never";
    command.notes =
        "Measures both directions with the recipe net-latency, aggregated in the kernel, until -d\n"
        "or Ctrl-C; or reads recordings. It prints what packets waited for, the largest first, what\n"
        "the slowest of them waited for, and for each cause that has 5 % of the time or of the tail\n"
        "what it is, how it is known, and what can be done about it. A terminal has 15 lines of it,\n"
        "a pipe has all. With --who, who had the CPU that they waited for, which cgroup was\n"
        "throttled, and where threads slept. 'stapgen help waits' has all causes. docs/guide/slow.md\n";
    command.examples = {"stapgen why --port 11211 -d 10", "stapgen why --port 443 -d 30 -o slow.rec",
                        "stapgen why --who --comm mc-worker -d 10", "stapgen why slow.rec"};
    command.options = {option("recording", "FILE", groups::arguments, "Explain these recordings instead of measuring",
                              "of recipes with stages, or folders with them", &options.recordings, {})};
    const auto found = std::ranges::find(catalog.recipes, recipe_name, &recipe::Recipe::name);
    if (found == catalog.recipes.end()) return command;
    const auto& recipe = options.recipe.emplace(*found);
    command.options =
        joined({std::move(command.options), filter_options(recipe.filters, measure.filters),
                who_option(script_options(recipe, options.run.make)), answer_options(measure_options(measure, &recipe)),
                load_options(measure), make_options(recipe, options.run.make)});
    return command;
}

}  // namespace stapgen::cli
