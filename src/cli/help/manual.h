#pragma once

#include <CLI/App.hpp>

#include "cli/options/action.h"

namespace stapgen::cli {

/// Whether these words, the first the verb, ask for the manual of what is installed, whatever recipes who builds it
/// has.
bool is_manual_of_installed(const std::vector<std::string>& words);

/// `stapgen man [--installed] DIR`, hidden: writes stapgen(1) and a page for each recipe and command into this folder.
/// The build calls it, so that pages, help and completion have one source; it knows a user's own recipes, too.
void add_man_command(CLI::App& app, const recipe::Program& program, Action& action);

}  // namespace stapgen::cli
