#pragma once

#include <CLI/App.hpp>

#include "cli/options/action.h"
#include "recipe/recipe.h"

/// Each adds its subcommand and, when that is the one on the command line, puts what is to be done into
/// `action`. `program` and `action` must outlive the parsing.
namespace stapgen::cli {

void add_run_command(CLI::App& app, const recipe::Program& program, const recipe::Recipe& recipe, Action& action);
void add_list_command(CLI::App& app, const recipe::Program& program, Action& action);
void add_show_command(CLI::App& app, const recipe::Program& program, Action& action);
void add_doctor_command(CLI::App& app, const recipe::Program& program, Action& action);
void add_render_command(CLI::App& app, const recipe::Program& program, Action& action);
void add_build_command(CLI::App& app, const recipe::Program& program, Action& action);
void add_exec_command(CLI::App& app, const recipe::Program& program, Action& action);
void add_new_recipe_command(CLI::App& app, const recipe::Program& program, Action& action);
void add_compare_command(CLI::App& app, Action& action);
void add_report_command(CLI::App& app, const recipe::Program& program, Action& action);
void add_resolve_command(CLI::App& app, Action& action);

}  // namespace stapgen::cli
