#pragma once

#include <string>

#include "base/result.h"
#include "cli/options/spec.h"

/// What is wrong with a command line. `used` is the command that it is about.
namespace stapgen::cli {

/// The hint says where the command's options are.
base::Error usage_error(const CommandSpec& used, std::string what);

/// A word that is no option and no argument of the command.
base::Error unknown_word(const CommandSpec& root, const CommandSpec& used, const std::string& word);

/// A value that is none of the option's choices, no number, or beyond its range.
base::Error wrong_value(const CommandSpec& used, const OptionSpec& option, const std::string& value);

/// The first word is no recipe and no command.
base::Error unknown_verb(const CommandSpec& root, const std::string& verb);

}  // namespace stapgen::cli
