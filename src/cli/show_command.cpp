#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/table.h"
#include "recipe/kernels.h"

namespace stapgen::cli {

namespace {

void show(const recipe::Recipe& recipe, const std::vector<recipe::KernelRange>& kernels, std::ostream& out) {
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
    if (recipe.interval_s) rows.emplace_back("--interval", fmt::format("seconds (default {})", *recipe.interval_s));
    if (!rows.empty()) {
        out << "\nParameters:\n";
        write_columns(out, rows, "  ");
    }
    if (!recipe.probes.empty()) out << "\nProbes: " << recipe.probes << '\n';
    if (!recipe.kernels.empty()) out << "Kernels: " << recipe.kernels << '\n';
    rows.clear();
    for (const auto& kernel : kernels) {
        const auto* shown = kernel.state == "run" ? "run" : "probes resolved, not run";
        rows.emplace_back(kernel.range, kernel.lost.empty() ? shown : fmt::format("{}. Lost: {}", shown, kernel.lost));
    }
    write_columns(out, rows, "  ");
    if (!recipe.examples.empty()) out << "\nExamples:\n";
    for (const auto& example : recipe.examples)
        out << "  " << example << '\n';
}

}  // namespace

void add_show_command(CLI::App& app, const Program& program, Action& action) {
    auto* command = app.add_subcommand("show", "What a recipe measures, its stages, parameters and cost");
    auto name = std::make_shared<std::string>();
    command->add_option("recipe", *name, "Its name")->required();
    command->callback([&program, &action, name] {
        action = [&program, name]() -> base::Result<void> {
            auto recipe = recipe::find_recipe(program.catalog, *name);
            if (!recipe) return tl::make_unexpected(recipe.error());
            std::vector<recipe::KernelRange> kernels;
            if (recipe->source == recipe::Source::script &&
                recipe->folder.parent_path() == program.files.templates) {  // of others' recipes nothing was shown
                auto known = recipe::kernels_of(recipe->name, program.files.kernels);
                if (!known) return tl::make_unexpected(known.error());
                kernels = *std::move(known);
            }
            show(*recipe, kernels, std::cout);
            return {};
        };
    });
}

}  // namespace stapgen::cli
