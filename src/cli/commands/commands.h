// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "cli/options/options.h"
#include "cli/options/spec.h"

/// The commands, each with its options and what it does. A new one is a file here, its values in options.h, a line
/// below, and one in command_table.cpp.
namespace stapgen::cli {

/// Set in the environment of a stapgen that reads what a client of mcp names: base::confine_relative_paths().
inline constexpr const char* confined_variable = "STAPGEN_CONFINED";

CommandSpec run_command(const recipe::Recipe& recipe);
/// The command of a recipe.
base::Result<void> run_recipe(const recipe::Program& program, const recipe::Recipe& recipe, const RunOptions& options);
CommandSpec render_command(const recipe::Recipe& recipe);
CommandSpec build_command(const recipe::Recipe& recipe);
CommandSpec check_command(const recipe::Recipe& recipe);
CommandSpec why_command(const recipe::Catalog& catalog);
CommandSpec list_command();
CommandSpec show_command();
CommandSpec doctor_command();
CommandSpec exec_command();
CommandSpec fleet_run_command(const recipe::Recipe& recipe);
CommandSpec fleet_report_command();
CommandSpec fleet_compare_command();
CommandSpec fleet_why_command();
CommandSpec fleet_command(const recipe::Catalog& catalog);
CommandSpec serve_command();
CommandSpec report_command();
/// Which records of a recording are wanted.
OptionSpecs selection_options(session::Selection& selection);
CommandSpec compare_command();
CommandSpec between_command();
CommandSpec resolve_command();
CommandSpec export_command();
CommandSpec query_command();
CommandSpec mcp_command();
CommandSpec new_recipe_command();
CommandSpec help_command();
CommandSpec man_command();
CommandSpec complete_command();

/// All of them: one for each recipe, and stapgen's own. `catalog` must outlive it.
CommandSpec command_table(const recipe::Catalog& catalog);

/// A recipe whose name is a command, or one of whose parameters is an option already or can be none, goes to the
/// broken ones.
void set_aside_clashes(recipe::Catalog& catalog);

}  // namespace stapgen::cli
