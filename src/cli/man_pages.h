#pragma once

#include <CLI/App.hpp>

#include "cli/doing.h"

namespace stapgen::cli {

/// `stapgen man DIR`, hidden: writes stapgen(1) and a page for each recipe and command into this folder. The build
/// calls it, so that pages, help and completion have one source; it knows a user's own recipes, too.
void add_man_command(CLI::App& app, const Program& program, Action& action);

}  // namespace stapgen::cli
