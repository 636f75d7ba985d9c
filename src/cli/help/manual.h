#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/spec.h"
#include "recipe/catalog.h"

namespace stapgen::cli {

/// Whether these words, the first the verb, ask for the manual of what is installed, whatever recipes who builds it
/// has.
bool is_manual_of_installed(const std::vector<std::string>& words);

/// Writes stapgen(1) and a page for each recipe and command into this folder. The build calls it, so that pages, help
/// and completion have one source; it knows a user's own recipes, too.
base::Result<void> write_manual(const CommandSpec& root, const recipe::Program& program,
                                const std::filesystem::path& folder);

}  // namespace stapgen::cli
