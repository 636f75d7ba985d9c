#pragma once

#include <CLI/App.hpp>
#include <set>

#include "recipe/recipe.h"
#include "session/filters.h"

namespace stapgen::cli {

/// -x, -p and --comm, --port, --addr, --dev, --mark: those that the recipe has; --sample where it has --port.
void add_filter_options(CLI::App& command, const std::set<recipe::Filter>& filters, session::FilterOptions& options);

}  // namespace stapgen::cli
