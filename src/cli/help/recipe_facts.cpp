#include "cli/help/recipe_facts.h"

#include <fmt/format.h>

namespace stapgen::cli {

base::Result<std::vector<recipe::KernelRange>> kernels_of(const recipe::Program& program,
                                                          const recipe::Recipe& recipe) {
    if (recipe.source != recipe::Source::script || recipe.folder.parent_path() != program.files.templates) {
        return std::vector<recipe::KernelRange>{};
    }
    return recipe::kernels_of(recipe.name, program.files.kernels);
}

std::vector<std::pair<std::string, std::string>> kernel_rows(const std::vector<recipe::KernelRange>& kernels) {
    std::vector<std::pair<std::string, std::string>> rows;
    for (const auto& kernel : kernels) {
        const auto* shown = kernel.state == "run" ? "run" : "probes resolved, not run";
        rows.emplace_back(kernel.range, kernel.lost.empty() ? shown : fmt::format("{}. Lost: {}", shown, kernel.lost));
    }
    return rows;
}

}  // namespace stapgen::cli
