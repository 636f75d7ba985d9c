#pragma once

#include "cli/options/options.h"
#include "cli/options/spec.h"
#include "recipe/catalog.h"

namespace stapgen::cli {

/// All commands: one for each recipe, and stapgen's own. `catalog` and `options`, which parse() puts values into, must
/// outlive it.
CommandSpec command_table(const recipe::Catalog& catalog, Options& options);

/// A recipe whose name is a command, or one of whose parameters is an option already or can be none, goes to the
/// broken ones.
void set_aside_clashes(recipe::Catalog& catalog);

}  // namespace stapgen::cli
