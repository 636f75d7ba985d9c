// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "cli/options/options.h"
#include "cli/options/spec.h"

/// The commands, each with its options and what it does. `options`, which parse() puts values into, must outlive them.
/// A new one is a file here, a line below, and one in command_table.cpp.
namespace stapgen::cli {

CommandSpec run_command(const recipe::Recipe& recipe, Options& options);
CommandSpec render_command(const recipe::Recipe& recipe, Options& options);
CommandSpec build_command(const recipe::Recipe& recipe, Options& options);
CommandSpec check_command(const recipe::Recipe& recipe, Options& options);
CommandSpec list_command(Options& options);
CommandSpec show_command(Options& options);
CommandSpec doctor_command(Options& options);
CommandSpec exec_command(Options& options);
CommandSpec fleet_run_command(const recipe::Recipe& recipe, Options& options);
CommandSpec fleet_report_command(Options& options);
CommandSpec fleet_compare_command(Options& options);
CommandSpec fleet_command(const recipe::Catalog& catalog, Options& options);
CommandSpec serve_command(Options& options);
CommandSpec report_command(Options& options);
CommandSpec compare_command(Options& options);
CommandSpec resolve_command(Options& options);
CommandSpec export_command(Options& options);
CommandSpec query_command(Options& options);
CommandSpec new_recipe_command(Options& options);
CommandSpec help_command(Options& options);
CommandSpec man_command(Options& options);
CommandSpec complete_command(Options& options);

/// All of them: one for each recipe, and stapgen's own. `catalog` must outlive it.
CommandSpec command_table(const recipe::Catalog& catalog, Options& options);

/// A recipe whose name is a command, or one of whose parameters is an option already or can be none, goes to the
/// broken ones.
void set_aside_clashes(recipe::Catalog& catalog);

}  // namespace stapgen::cli
