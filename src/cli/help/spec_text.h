// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/options/spec.h"

/// Commands and options in words, for help, manual and completion alike.
namespace stapgen::cli {

/// "stapgen-build", where "stapgen build rx-latency" is described, too.
std::string manual_name(const CommandSpec& command);

/// "stapgen report [OPTIONS] FILE..."
std::string usage_of(const CommandSpec& command);

/// A heading, and below it names and what they are.
struct Section {
    std::string title;
    std::vector<std::pair<std::string, std::string>> rows{};
};

/// "Recipes" and "Commands" below a command, where it has some.
std::vector<Section> command_sections(const CommandSpec& command);

struct OptionGroup {
    std::string title;
    std::vector<const OptionSpec*> options;
};

/// Arguments without a name, in their order.
std::vector<const OptionSpec*> arguments_of(const CommandSpec& command);

/// The arguments first, the general ones last.
std::vector<OptionGroup> option_groups(const CommandSpec& command);

/// The same, and after them those options of its subcommands that the groups before have not.
std::vector<OptionGroup> all_option_groups(const CommandSpec& command);

/// As it is typed: "-x, --target-tid TID", "FILE...".
std::string shown_name(const OptionSpec& option);

/// The effect of an option, its choices, range and default. `whole`: and what more is to be said, what it excludes and
/// the variable that stands for it.
std::string option_text(const OptionSpec& option, bool whole);

/// All that is to be said of these options, and at the end what the words mean that stand for their values, in the
/// order in which they come up.
std::vector<Section> whole_sections(const std::vector<OptionGroup>& groups);

}  // namespace stapgen::cli
