#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/help/columns.h"
#include "cli/help/recipe_facts.h"
#include "launch/child_process.h"
#include "overhead/estimate.h"
#include "report/json.h"

namespace stapgen::cli {

namespace {

using Json = nlohmann::ordered_json;

/// The same traffic, where the recipe can aggregate.
std::optional<overhead::ExpectedCost> aggregated(const recipe::Recipe& recipe,
                                                 std::optional<overhead::ExpectedCost> expected) {
    if (!expected || !recipe.record.aggregates) return std::nullopt;
    expected->hit = overhead::hit_cost_of(recipe, true, launch::this_machine()->running_release());
    return expected;
}

void write_text(const recipe::Recipe& recipe, const std::vector<recipe::KernelRange>& kernels,
                const std::optional<overhead::ExpectedCost>& expected, std::ostream& out) {
    out << recipe.name << ": " << recipe.summary << "\n\n" << recipe.description << '\n';
    if (!recipe.stages.empty()) {
        Rows rows;
        for (const auto& stage : recipe.stages)
            rows.emplace_back(stage.name, stage.help);
        out << "\nStages:\n";
        write_columns(out, rows, "  ");
    }
    Rows rows;
    for (const auto& parameter : recipe.parameters) {
        rows.emplace_back("--" + parameter.name,
                          fmt::format("{} (default {})", parameter.help, parameter.default_value));
    }
    if (recipe.interval_s)
        rows.emplace_back("--interval", fmt::format("report every so often (default {} s)", *recipe.interval_s));
    if (!rows.empty()) {
        out << "\nParameters:\n";
        write_columns(out, rows, "  ");
    }
    if (!recipe.probes.empty()) out << "\nProbes: " << recipe.probes << '\n';
    if (expected) out << "Expected: " << overhead::sentence_of(*expected) << '\n';
    if (const auto less = aggregated(recipe, expected)) {
        out << fmt::format("  with --aggregate: {} of all CPUs, {} of the busiest\n",
                           overhead::percent(less->of_all_cpus()), overhead::percent(less->of_busiest()));
    }
    if (!recipe.kernels.empty()) out << "Kernels: " << recipe.kernels << '\n';
    write_columns(out, kernel_rows(kernels), "  ");
    if (!recipe.examples.empty()) out << "\nExamples:\n";
    for (const auto& example : recipe.examples)
        out << "  " << example << '\n';
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
              {"parameters", Json::array()},
              {"interval_s", nullptr},
              {"probes", recipe.probes},
              {"expected", json_of(expected)},
              {"expected_aggregated", json_of(aggregated(recipe, expected))},
              {"needs", recipe.kernels},
              {"kernels", Json::array()},
              {"examples", recipe.examples}};
    for (const auto& parameter : recipe.parameters)
        json["parameters"].push_back(json_of(parameter));
    if (recipe.interval_s) json["interval_s"] = *recipe.interval_s;
    for (const auto& kernel : kernels)
        json["kernels"].push_back({{"range", kernel.range}, {"state", kernel.state}, {"lost", kernel.lost}});
    return json;
}

}  // namespace

base::Result<void> show(const recipe::Program& program, const Options& options) {
    auto recipe = recipe::find_recipe(program.catalog, options.recipe);
    if (!recipe) return tl::make_unexpected(recipe.error());
    const auto kernels = kernels_of(program, *recipe);
    if (!kernels) return tl::make_unexpected(kernels.error());
    const auto expected = overhead::expect_now(*launch::this_machine(), *recipe, false, overhead::sample_window);
    if (options.present.format == "json") {
        report::put_json(std::cout, json_of(*recipe, *kernels, expected), 2);
    } else {
        write_text(*recipe, *kernels, expected, std::cout);
    }
    return {};
}

}  // namespace stapgen::cli
