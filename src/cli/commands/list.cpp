#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/terminal.h"
#include "cli/commands/commands.h"
#include "cli/help/columns.h"
#include "cli/options/report_options.h"
#include "report/json/json_text.h"

namespace stapgen::cli {

void add_list_command(CLI::App& app, const recipe::Program& program, Action& action) {
    auto* command = app.add_subcommand("list", "The recipes, one line each");
    auto format = std::make_shared<std::string>("table");
    add_format(*command, *format, {"table", "json"});
    command->footer(
        "Examples:\n"
        "  stapgen list\n"
        "  stapgen list --json");
    command->callback([&program, &action, format] {
        action = [&program, format]() -> base::Result<void> {
            for (const auto& [name, error] : program.catalog.broken)
                base::show_error(error);
            if (*format == "json") {
                auto recipes = nlohmann::ordered_json::array();
                for (const auto& recipe : program.catalog.recipes) {
                    recipes.push_back({{"name", recipe.name}, {"summary", recipe.summary}});
                }
                report::put_json(std::cout, {{"schema", "stapgen.list/1"}, {"recipes", recipes}}, 2);
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
