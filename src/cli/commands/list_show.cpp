// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "launch/child_process.h"
#include "overhead/overhead.h"
#include "recipe/kernels.h"
#include "recording/reader.h"
#include "session/session.h"
#include "show/json.h"
#include "table/texts.h"

namespace stapgen::cli {

namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::pair<std::string, std::string>>;

/// Two columns, the first as wide as it needs; on a terminal the second one is broken to fit. Where that leaves it too
/// little, it is below the first.
void write_columns(std::ostream& out, const Rows& rows, std::string_view indent, std::size_t screen_width) {
    constexpr std::size_t min_second = 24;
    std::size_t width = 0;
    for (const auto& [left, right] : rows)
        width = std::max(width, left.size());
    auto column = indent.size() + width + 2;
    const bool is_below = screen_width > 0 && column + min_second > screen_width;
    if (is_below) column = indent.size() + 4;
    for (const auto& [left, right] : rows) {
        if (right.empty()) {
            out << indent << left << '\n';
            continue;
        }
        out << indent << left
            << (is_below ? '\n' + std::string(column, ' ') : std::string(column - indent.size() - left.size(), ' '));
        if (screen_width == 0) {
            out << right << '\n';
            continue;
        }
        const auto lines = base::wrapped(right, screen_width - column);
        const char* separator = "";
        for (const auto line : base::split(lines, '\n')) {
            if (*separator != 0) out << separator << std::string(column, ' ');
            out << line;
            separator = "\n";
        }
        out << '\n';
    }
}

/// The same traffic, where the recipe can aggregate.
std::optional<overhead::ExpectedCost> aggregated(const recipe::Recipe& recipe,
                                                 std::optional<overhead::ExpectedCost> expected) {
    if (!expected || !recipe.record.aggregates) return std::nullopt;
    expected->hit = overhead::hit_cost_of(recipe, true, launch::this_machine()->running_release());
    return expected;
}

/// The words that a script prints. `help` explains counters, one by one.
std::vector<recipe::Meaning> meanings_of(const recipe::Recipe& recipe) {
    return recipe.source == recipe::Source::script ? recipe.meanings : std::vector<recipe::Meaning>{};
}

void write_text(const recipe::Recipe& recipe, const std::vector<recipe::KernelRange>& kernels,
                const std::optional<overhead::ExpectedCost>& expected, std::ostream& out) {
    const auto width = base::terminal_columns(STDOUT_FILENO);
    const auto say = [&](const std::string& text) { out << base::reflowed(text, width) << '\n'; };
    say(recipe.name + ": " + recipe.summary);
    out << '\n';
    say(recipe.description);
    if (!recipe.stages.empty()) {
        Rows rows;
        for (const auto& stage : recipe.stages) {
            const bool is_divided = std::ranges::any_of(recipe.record.fields, [&](const schema::Field& field) {
                return schema::divided_stage(field.name) == stage.name;
            });
            rows.emplace_back(
                stage.name,
                is_divided ? fmt::format("{}; its parts: stapgen help waits {}", stage.help, stage.name) : stage.help);
        }
        out << "\nStages:\n";
        write_columns(out, rows, "  ", width);
    }
    Rows rows;
    for (const auto& meaning : meanings_of(recipe))
        rows.emplace_back(meaning.of, meaning.help);
    if (!rows.empty()) {
        out << "\nMeanings:\n";
        write_columns(out, rows, "  ", width);
        rows.clear();
    }
    for (const auto& parameter : recipe.parameters) {
        rows.emplace_back("--" + parameter.name,
                          fmt::format("{} (default {})", parameter.help, parameter.default_value));
    }
    if (recipe.interval_s)
        rows.emplace_back("--interval", fmt::format("report interval (default {} s)", *recipe.interval_s));
    if (!rows.empty()) {
        out << "\nParameters:\n";
        write_columns(out, rows, "  ", width);
    }
    if (!recipe.probes.empty()) {
        out << '\n';
        say("Probes: " + recipe.probes);
    }
    if (expected) say("Expected: " + overhead::sentence_of(*expected));
    if (const auto less = aggregated(recipe, expected)) {
        say(fmt::format("  with --aggregate: {} of all CPUs, {} of the busiest", overhead::percent(less->of_all_cpus()),
                        overhead::percent(less->of_busiest())));
    }
    if (!recipe.kernels.empty()) say("Kernels: " + recipe.kernels);
    rows.clear();
    for (const auto& kernel : kernels)
        rows.emplace_back(kernel.range, kernel.state_text());
    write_columns(out, rows, "  ", width);
    if (!recipe.examples.empty()) out << "\nExamples:\n";
    for (const auto& example : recipe.examples)
        out << base::fitted_command("  " + example, width) << '\n';
}

Json pairs_of(const std::vector<recipe::Stage>& stages) {
    auto list = Json::array();
    for (const auto& [name, help] : stages)
        list.push_back({{"name", name}, {"help", help}});
    return list;
}

Json json_of(const recipe::Parameter& parameter) {
    Json json{{"name", parameter.name}, {"default", parameter.default_value}, {"help", parameter.help}};
    const std::string unit = parameter.type == recipe::ParameterType::duration ? "_ns" : "";
    if (parameter.minimum) json["minimum" + unit] = *parameter.minimum;
    if (parameter.maximum) json["maximum" + unit] = *parameter.maximum;
    if (!parameter.choices.empty()) json["choices"] = parameter.choices;
    return json;
}

/// Null where it is not known.
Json json_of(const std::optional<overhead::ExpectedCost>& expected) {
    if (!expected) return nullptr;
    return {{"hits_per_s", expected->hits_per_s},
            {"hit_ns", expected->hit.ns},
            {"hit_is_measured", expected->hit.measured},
            {"all_cpus_percent", expected->of_all_cpus() * 100},
            {"busiest_cpu_percent", expected->of_busiest() * 100},
            {"seconds", expected->seconds}};
}

Json json_of(const recipe::Recipe& recipe, const std::vector<recipe::KernelRange>& kernels,
             const std::optional<overhead::ExpectedCost>& expected) {
    Json json{{"schema", "stapgen.show/1"},
              {"name", recipe.name},
              {"summary", recipe.summary},
              {"description", recipe.description},
              {"stages", pairs_of(recipe.stages)},
              {"meanings", Json::array()},
              {"parameters", Json::array()},
              {"interval_s", nullptr},
              {"probes", recipe.probes},
              {"expected", json_of(expected)},
              {"expected_aggregated", json_of(aggregated(recipe, expected))},
              {"needs", recipe.kernels},
              {"kernels", Json::array()},
              {"examples", recipe.examples}};
    for (const auto& [of, help, loss, loss_by_name] : meanings_of(recipe))
        json["meanings"].push_back({{"of", of}, {"help", help}});
    for (const auto& parameter : recipe.parameters)
        json["parameters"].push_back(json_of(parameter));
    if (recipe.interval_s) json["interval_s"] = *recipe.interval_s;
    for (const auto& kernel : kernels)
        json["kernels"].push_back({{"range", kernel.range}, {"state", kernel.state}, {"lost", kernel.lost}});
    return json;
}

struct KeptFile {
    std::string name;
    std::uintmax_t bytes = 0;
    recording::Setup setup;
};

/// The recordings in a folder that were kept when a condition held, the newest first. Of each file only the beginning
/// is read.
base::Result<std::vector<KeptFile>> kept_in(const std::string& folder) {
    constexpr std::size_t most = 1000;
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) {
        return base::bad_input(fmt::format("{} is no folder", base::printable(folder)),
                               "name one that --keep-in has written to; 'stapgen list' alone lists the recipes");
    }
    STAPGEN_LET(auto files, files_at({folder}));
    std::erase_if(files, [](const std::filesystem::path& file) { return file.extension() != ".rec"; });
    if (files.size() > most) {
        return base::bad_input(fmt::format("{} has {} recordings", base::printable(folder), files.size()),
                               fmt::format("{} at most are looked at; name a folder with fewer", most));
    }
    std::vector<KeptFile> found;
    for (const auto& file : files) {
        auto reader = recording::Reader::open(file);
        if (!reader || !reader->header() || reader->header()->setup.kept.condition.empty()) continue;
        found.push_back({file.filename(), std::filesystem::file_size(file, error), reader->header()->setup});
    }
    std::ranges::stable_sort(found, std::greater{}, [](const KeptFile& file) { return file.setup.kept.at_epoch_ns; });
    return found;
}

base::Result<void> list_kept(const ListOptions& options) {
    STAPGEN_LET(const auto files, kept_in(options.folder));
    constexpr std::size_t most_bytes = 320;
    const auto cut = [](const std::string& text) { return std::string(base::whole_characters(text, most_bytes)); };
    auto json = Json::array();
    Rows rows;
    for (const auto& [name, bytes, setup] : files) {
        const auto kept = session::kept_row(setup.kept);
        const auto& value = kept.value;
        json.push_back({{"file", name},
                        {"bytes", bytes},
                        {"recipe", cut(setup.recipe)},
                        {"host", setup.host.empty() ? Json(nullptr) : Json(cut(setup.host))},
                        {"condition", kept.condition},
                        {"value", value.empty() ? Json(nullptr) : Json(value)},
                        {"at", table::utc_time(kept.at)},
                        {"before_ns", kept.before_ns},
                        {"after_ns", kept.after_ns}});
        rows.emplace_back(base::printable(name),
                          fmt::format("{}: {}{}", table::local_time(kept.at), base::printable(kept.condition),
                                      value.empty() ? "" : fmt::format(" ({})", base::printable(value))));
    }
    if (options.format == "json") {
        show::put_json(std::cout, {{"schema", "stapgen.kept/1"}, {"kept", json}}, 2);
    } else {
        write_columns(std::cout, rows, "", base::terminal_columns(STDOUT_FILENO));
    }
    return {};
}

base::Result<void> list(const Call& call, const ListOptions& options) {
    if (!options.folder.empty()) return list_kept(options);
    const auto& program = call.program;
    for (const auto& [name, error] : program.catalog.broken)
        base::show_error(error);
    if (options.format == "json") {
        auto recipes = Json::array();
        for (const auto& recipe : program.catalog.recipes)
            recipes.push_back({{"name", recipe.name}, {"summary", recipe.summary}});
        show::put_json(std::cout, {{"schema", "stapgen.list/1"}, {"recipes", recipes}}, 2);
        return {};
    }
    Rows rows;
    for (const auto& recipe : program.catalog.recipes)
        rows.emplace_back(recipe.name, recipe.summary);
    write_columns(std::cout, rows, "", base::terminal_columns(STDOUT_FILENO));
    return {};
}

base::Result<void> show(const Call& call, const ShowOptions& options) {
    const auto& program = call.program;
    auto recipe = recipe::find_recipe(program.catalog, options.recipe);
    STAPGEN_TRY(recipe);
    STAPGEN_LET(const auto kernels, recipe::kernels_of(*recipe, program.files));
    const auto expected = overhead::expect_now(*launch::this_machine(), *recipe, false, overhead::sample_window);
    if (options.format == "json") {
        show::put_json(std::cout, json_of(*recipe, kernels, expected), 2);
    } else {
        write_text(*recipe, kernels, expected, std::cout);
    }
    return {};
}

}  // namespace

CommandSpec list_command() {
    CommandSpec command{"stapgen", "list", "List the recipes, one per line; or what was kept"};
    auto& options = add_values<ListOptions>(command, list);
    command.examples = {"stapgen list", "stapgen list --json", "stapgen list FOLDER"};
    command.options =
        joined({{option("folder", "FOLDER", groups::arguments, "List the recordings in it that --keep has made",
                        "the condition that held, its value and the moment", &options.folder, {})},
                format_options(options.format, {"table", "json"})});
    return command;
}

CommandSpec show_command() {
    CommandSpec command{"stapgen", "show", "Show what a recipe measures, its stages, parameters and cost"};
    auto& options = add_values<ShowOptions>(command, show);
    command.examples = {"stapgen show rx-latency", "stapgen show dropwatch --json"};
    command.options =
        joined({{option("recipe", "RECIPE", groups::arguments, "Its name", "", &options.recipe, {.required = true})},
                format_options(options.format, {"table", "json"})});
    return command;
}

}  // namespace stapgen::cli
