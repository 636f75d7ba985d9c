#include <iostream>
#include <nlohmann/json.hpp>

#include "base/terminal.h"
#include "cli/commands/commands.h"
#include "cli/help/columns.h"
#include "report/json.h"

namespace stapgen::cli {

base::Result<void> list(const recipe::Program& program, const Options& options) {
    for (const auto& [name, error] : program.catalog.broken)
        base::show_error(error);
    if (options.present.format == "json") {
        auto recipes = nlohmann::ordered_json::array();
        for (const auto& recipe : program.catalog.recipes)
            recipes.push_back({{"name", recipe.name}, {"summary", recipe.summary}});
        report::put_json(std::cout, {{"schema", "stapgen.list/1"}, {"recipes", recipes}}, 2);
        return {};
    }
    Rows rows;
    for (const auto& recipe : program.catalog.recipes)
        rows.emplace_back(recipe.name, recipe.summary);
    write_columns(std::cout, rows, "");
    return {};
}

}  // namespace stapgen::cli
