#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/spec.h"

namespace stapgen::cli {

/// The text of --help: it begins with the examples and fits a screen of 24 lines of 80 columns.
std::string short_help(const CommandSpec& command);

/// The text of --help-all: every option with all that is to be said of it.
std::string whole_help(const CommandSpec& command);

/// The same, of the command that these words come to. Error (bad_input): there is none.
base::Result<std::string> help_of(const CommandSpec& root, const std::vector<std::string>& words);

}  // namespace stapgen::cli
