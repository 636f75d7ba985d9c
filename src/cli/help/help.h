#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/options/action.h"

namespace stapgen::cli {

/// Gives a command, and those that are added to it later, its help: --help fits a screen of 24 lines of 80 columns and
/// begins with the examples; --help-all has every option with all that is to be said of it.
void set_help(CLI::App& app);

/// The text of --help-all.
std::string whole_help(const CLI::App& command);

/// `stapgen help [COMMAND...]`: the text of --help-all.
void add_help_command(CLI::App& app, Action& action);

}  // namespace stapgen::cli
