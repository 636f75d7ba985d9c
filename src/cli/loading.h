#pragma once

#include <string>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"
#include "cli/presenting.h"

namespace stapgen::cli {

/// Reads files ("-" is stdin) of whatever kinds: recordings and text that other tools print. What is of one recipe is
/// one summary, added up over all files; parts of one run are put together first. In the order of their first lines.
/// Error (bad_input): a file cannot be read, or there is nothing known in any of them. What a user should know besides
/// goes to stderr.
base::Result<std::vector<analyze::Summary>> load(const std::vector<std::string>& files,
                                                 const Presentation& presentation);

}  // namespace stapgen::cli
