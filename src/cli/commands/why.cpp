// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands/archives.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "session/measured_facts.h"
#include "session/presentation.h"
#include "session/proposal.h"
#include "session/replay.h"

namespace stapgen::cli {

namespace {

/// It measures both directions.
constexpr std::string_view recipe_name = "net-latency";
/// It measures requests; with this flag it divides what the program does.
constexpr std::string_view requests_recipe_name = "sock-latency";
/// The format of the answer for people, beside those of reports.
constexpr const char* answer_format = "why";
/// Limit of groups: the stages of each take megabytes.
constexpr std::size_t most_groups = 64;

/// With the filters that select records; the others are for a measurement.
base::Result<session::Selection> selection_of(const WhyOptions& options) {
    auto selection = options.selection;
    const auto specs = selection_options(selection);
    for (const auto& [name, value] : options.run.measure.filters) {
        const auto spec = std::ranges::find(specs, "--" + name, long_name);
        if (spec == specs.end()) {
            return base::bad_input(fmt::format("--{} is for a measurement, and not for a recording", name),
                                   "--port, --addr, --comm, -p, -x, --since and --until select records");
        }
        STAPGEN_TRY(std::get<Reader>(spec->target)(value));
    }
    return selection;
}

/// Of records that have no stages: what they are, and what shows them.
base::Error no_stages(const kinds::Measured& measured) {
    const auto [what, shows] =
        measured.has<rows::OfInterval<rows::Entry>>()
            ? std::pair("a ledger of packets", "the ledger, with what is lost where")
        : measured.has<rows::OfInterval<rows::Drop>>() ? std::pair("drops", "where packets are dropped, and why")
        : measured.has<rows::Call>()     ? std::pair("calls of functions, one within another", "their tree")
        : measured.has<rows::Readings>() ? std::pair("the kernel's counters", "which of them rose, and what that means")
                                         : std::pair("counts", "them");
    return {
        base::ErrorKind::bad_input,
        fmt::format("why: records of {} are {}, and have no stages to explain", base::printable(measured.recipe), what),
        fmt::format("'stapgen report' shows {}; 'stapgen why -d 10 -o FILE' measures where time goes", shows)};
}

base::Result<void> explain(const Call& call, const WhyOptions& options) {
    const auto& measure = options.run.measure;
    const auto& make = options.run.make;
    if (measure.plan.duration || measure.plan.output || make.dry_run || !make.arguments.empty() ||
        options.asks_requests) {
        return base::bad_input(
            "why RECORDING... measures nothing: -d, -o, --who, --requests and --dry-run are for "
            "measurements",
            "leave them out: a recording is explained as it is; --port, --addr, --comm, -p, -x, --since and --until "
            "select its records");
    }
    STAPGEN_LET(const auto selection, selection_of(options));
    STAPGEN_LET(auto presentation, presentation_of(measure.present));
    STAPGEN_LET(const auto archives, archives_among(options.recordings));
    if (!archives.empty()) {
        const auto name = base::printable(archives.front().string());
        return base::bad_input(fmt::format("why: {} is a support archive, which has no stages to explain", name),
                               fmt::format("'stapgen report {}' says what in it points to lost or late packets", name));
    }
    for (const auto& word : options.recordings) {
        std::error_code error;
        if (word != "-" && !std::filesystem::exists(word, error) && !error) {
            return base::bad_input(
                fmt::format("{} is no recording: there is no such file", base::printable(word)),
                "to measure, select packets by options: --port N, -p PID, --comm THREAD, --addr ADDRESS");
        }
    }
    STAPGEN_LET(const auto files, files_at(options.recordings));
    STAPGEN_LET(auto reports, session::load(files, presentation, {}, {.selection = selection}));
    for (auto& measured : reports) {
        if (!measured.has<rows::Stage>() || measured.counts() || measured.has<rows::Call>())
            return tl::make_unexpected(no_stages(measured));
        session::put_meanings(measured, call.program.catalog);
    }
    if (reports.size() == 1)
        session::put_proposal(files, presentation, {.selection = selection}, call.program.catalog, reports.front());
    session::present(std::cout, reports, presentation);
    return {};
}

/// What single records cost more than aggregated ones.
std::string cost_of_groups(const recipe::Recipe& recipe) {
    const auto& cost = recipe.cost.value_or(recipe::Cost());
    if (cost.instructions <= 0 || cost.printing <= 0) return {};
    return fmt::format(
        "--by measures single records: each hit of a probe costs about {} % more than without it; "
        "--dry-run shows the expected cost, --budget limits it",
        100 * cost.printing / cost.instructions);
}

base::Result<void> why(const Call& call, const WhyOptions& typed) {
    auto options = typed;
    auto& measure = options.run.measure;
    auto& format = measure.present.format;
    const bool is_answer = format == answer_format;
    measure.present.shown.asks_why =
        is_answer || (format != "table" && show::format_named(format).write_whys != nullptr);
    if (is_answer) format = "table";
    if (!measure.present.by.empty()) measure.present.shown.max_groups = most_groups;
    if (!options.recordings.empty()) return explain(call, options);
    if (!options.selection.is_all()) {
        return base::bad_input(fmt::format("{} is for a recording, and none is named", options.selection.options),
                               "'stapgen why FILE --since 14:05'; a measurement has -d TIME");
    }
    const auto& recipe = options.asks_requests ? options.requests : options.recipe;
    if (!recipe) {
        return base::bad_input(fmt::format("why measures with the recipe {}, which does not exist",
                                           options.asks_requests ? requests_recipe_name : recipe_name),
                               "'stapgen list' shows the recipes; 'stapgen why FILE' reads a recording");
    }
    auto& make = options.run.make;
    if (options.asks_requests) {
        make.arguments.insert_or_assign(std::string(recipe::with_parts), "true");
        make.aggregate = recipe->asked_by(make.arguments).record.aggregates;
    }
    if (!measure.present.by.empty()) {
        make.aggregate = false;
        if (!measure.plan.quiet) base::print_message(cost_of_groups(*recipe));
    }
    return run_recipe(call.program, *recipe, options.run);
}

/// The options of a run that an answer at its end has a use for.
OptionSpecs answer_options(OptionSpecs options) {
    static const std::set<std::string> kept{"--duration", "--output", "--format", "--json", "--color",
                                            "--label",    "--rotate", "--quiet",  "--by"};
    std::erase_if(options, [](const OptionSpec& option) { return !kept.contains(long_name(option)); });
    for (auto& option : options) {
        auto& choices = option.rules.choices;
        if (long_name(option) != "--format") continue;
        std::erase_if(choices, [](const std::string& name) { return show::format_named(name).is_trace; });
        choices.insert(choices.begin(), answer_format);
        option.more = "why: the answer, on a terminal in 15 lines; json, ndjson, csv: the same; the others report";
    }
    return options;
}

/// What no filter of a measurement is.
OptionSpecs time_options(session::Selection& selection) {
    auto options = selection_options(selection);
    std::erase_if(options, [](const OptionSpec& option) {
        return long_name(option) != "--since" && long_name(option) != "--until";
    });
    for (auto& option : options)
        option.more = "of a recording";
    return options;
}

OptionSpecs requests_option(WhyOptions& options) {
    return {{"--requests", "", groups::other, "Requests of a server instead of packets",
             "what they waited for inside the program: sock-latency --parts", &options.asks_requests}};
}

/// The filters that requests lack, and --who: what threads slept for is measured with requests anyway.
std::vector<std::string> only_of_packets(const WhyOptions& options) {
    std::vector<std::string> names{"--who"};
    recording::TypedFilters typed;
    const auto of_requests = filter_options(options.requests->filters, typed);
    for (const auto& option : filter_options(options.recipe->filters, typed))
        if (std::ranges::find(of_requests, long_name(option), long_name) == of_requests.end())
            names.push_back(long_name(option));
    return names;
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
    measure.present.format = answer_format;
    measure.present.shown.explains = true;
    measure.live = "never";
    command.notes =
        "Measures both directions with the recipe net-latency, aggregated in the kernel, until -d\n"
        "or Ctrl-C; or reads recordings. It prints what packets waited for, the largest first, what\n"
        "the slowest of them waited for, and for each cause that has 5 % of the time or of the tail\n"
        "what it is, how it is known, and what can be done about it. A terminal has 15 lines of it,\n"
        "a pipe has all. With --who, who had the CPU that they waited for, which cgroup was\n"
        "throttled, and where threads slept. With --requests, what requests waited for inside the\n"
        "program that answers them, by sock-latency --parts. With --by, a row for each process, port,\n"
        "container, ...: that takes single records. 'stapgen help waits' has all causes.\n"
        "docs/guide/slow.md, docs/guide/requests.md\n";
    command.examples = {"stapgen why --port 11211 -d 10",
                        "stapgen why --port 443 -d 30 -o slow.rec",
                        "stapgen why --who --comm mc-worker -d 10",
                        "stapgen why --requests --port 8080 -d 30",
                        "stapgen why slow.rec",
                        "stapgen why slow.rec --by comm --since 14:05"};
    command.options = {option("recording", "FILE", groups::arguments, "Explain these recordings instead of measuring",
                              "of recipes with stages, or folders with them", &options.recordings, {})};
    const auto recipe_named = [&](std::string_view name) {
        const auto found = std::ranges::find(catalog.recipes, name, &recipe::Recipe::name);
        return found == catalog.recipes.end() ? std::nullopt : std::optional(*found);
    };
    options.recipe = recipe_named(recipe_name);
    options.requests = recipe_named(requests_recipe_name);
    if (!options.recipe) return command;
    const auto& recipe = *options.recipe;
    command.options =
        joined({std::move(command.options), filter_options(recipe.filters, measure.filters),
                time_options(options.selection), options.requests ? requests_option(options) : OptionSpecs{},
                who_option(script_options(recipe, options.run.make)), answer_options(measure_options(measure, &recipe)),
                load_options(measure), make_options(recipe, options.run.make)});
    if (options.requests) exclude(command.options, "--requests", only_of_packets(options));
    return command;
}

}  // namespace stapgen::cli
