#pragma once

#include <string>
#include <vector>

#include "cli/options/spec.h"
#include "cli/options/value_words.h"

/// Commands and options in words, for help, manual and completion alike.
namespace stapgen::cli {

/// "stapgen-build", where "stapgen build rx-latency" is described, too.
std::string manual_name(const CommandSpec& command);

/// "stapgen report [OPTIONS] FILE..."
std::string usage_of(const CommandSpec& command);

struct OptionGroup {
    std::string title;
    std::vector<const OptionSpec*> options;
};

/// What stands on the command line without a name, in its order.
std::vector<const OptionSpec*> arguments_of(const CommandSpec& command);

/// The arguments first, the general ones last.
std::vector<OptionGroup> option_groups(const CommandSpec& command);

/// The same, and after them those options of its subcommands that the groups before have not.
std::vector<OptionGroup> all_option_groups(const CommandSpec& command);

/// As it is typed: "-x, --target-tid TID", "FILE...".
std::string shown_name(const OptionSpec& option);

/// What it does, its choices, range and default.
std::string short_text(const OptionSpec& option);

/// The same, and what more is to be said, what it excludes and the variable that stands for it.
std::string whole_text(const OptionSpec& option);

/// Those with a meaning that stand for the values of these options, each once, as they come up.
std::vector<const ValueWord*> values_used(const std::vector<OptionGroup>& groups);

}  // namespace stapgen::cli
