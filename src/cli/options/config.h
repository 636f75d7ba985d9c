// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/spec.h"

/// Options that a user has set once: docs/guide/configuration.md.
namespace stapgen::cli {

/// A file of settings.
struct ConfigFile {
    std::string name;  ///< for messages
    std::string text;
};

/// $STAPGEN_CONFIG, or config.toml of the user's and the system's folder for stapgen: those that are there, the
/// stronger first. As root only what nobody else can change: else it is not read, and a message says so. Error
/// (bad_input): $STAPGEN_CONFIG or one of the others cannot be read.
base::Result<std::vector<ConfigFile>> read_config_files();

/// Takes a value of an option as if it were typed; false if it is none of the option's. It may come to nothing: what
/// was typed, or came before, is stronger.
using Setter = std::function<base::Result<bool>(const OptionSpec& option, const std::vector<std::string>& values)>;

/// Hands what the files have for `command` to `set`, the strongest first: of [profile.NAME], of [command.NAME], of
/// [options]. `profile` may be empty. Errors (bad_input), with line and column: a file is no TOML, has a key that is
/// no option of the command or of any, or a value that is none; no file has that profile.
base::Result<void> apply_config(const std::vector<ConfigFile>& files, const CommandSpec& root,
                                const CommandSpec& command, const std::string& profile, const Setter& set);

}  // namespace stapgen::cli
