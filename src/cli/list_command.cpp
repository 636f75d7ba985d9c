#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/table.h"

namespace stapgen::cli {

void add_list_command(CLI::App& app, const Program& program, Action& action) {
    auto* command = app.add_subcommand("list", "The recipes, one line each");
    auto as_json = std::make_shared<bool>(false);
    command->add_flag("-j,--json", *as_json, "As JSON");
    command->callback([&program, &action, as_json] {
        action = [&program, as_json]() -> base::Result<void> {
            for (const auto& [name, error] : program.catalog.broken)
                show_error(error);
            if (*as_json) {
                auto recipes = nlohmann::ordered_json::array();
                for (const auto& recipe : program.catalog.recipes) {
                    recipes.push_back({{"name", recipe.name}, {"summary", recipe.summary}});
                }
                std::cout << nlohmann::ordered_json{{"schema", "stapgen.list/1"}, {"recipes", recipes}}.dump(2, ' ', true) << '\n';
                return {};
            }
            Rows rows;
            for (const auto& recipe : program.catalog.recipes)
                rows.push_back({recipe.name, recipe.summary});
            write_columns(std::cout, rows, "");
            return {};
        };
    });
}

}  // namespace stapgen::cli
