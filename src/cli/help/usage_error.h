#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace stapgen::cli {

/// What is wrong with a command line, in words of our own: what CLI11 says names its types and its own terms. `app` has
/// parsed `words` and thrown `error`; options that were given may be read once more.
base::Error usage_error(CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words);

}  // namespace stapgen::cli
