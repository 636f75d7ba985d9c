// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/options/spec.h"

/// Errors of a command line, with what may have been meant. All are bad_input.
namespace stapgen::cli {

/// `used` is the command that it is about. The hint says where its options are.
base::Error usage_error(const CommandSpec& used, std::string what);

/// The long option of the command that a slip of one, with or without a value, is near; none for other words.
std::optional<std::string> meant_option(const CommandSpec& used, std::string_view word);

/// A word that is no option and no argument of the command.
base::Error unknown_word(const CommandSpec& root, const CommandSpec& used, const std::string& word);

/// A value that is none of the option's choices, no number, or beyond its range.
base::Error wrong_value(const CommandSpec& used, const OptionSpec& option, const std::string& value);

/// The word behind `command` is no recipe and no command.
base::Error unknown_verb(const CommandSpec& command, const std::string& verb);

/// The word behind `command` is no recipe, or one without the script that the command works with.
base::Error no_script(const CommandSpec& command, const recipe::Catalog& catalog, const std::string& word);

}  // namespace stapgen::cli
