#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

/// The commands and options as CLI11 has them, read for the help, the manual and the completion alike.
namespace stapgen::cli {

/// "stapgen build rx-latency".
std::string full_name(const CLI::App& command);

/// "stapgen-build", where "stapgen build rx-latency" is described, too.
std::string manual_name(const CLI::App& command);

/// Those of the user: no hidden ones.
std::vector<const CLI::App*> subcommands_of(const CLI::App& command);

/// Null if there is none of that name.
const CLI::App* subcommand_of(const CLI::App& command, const std::string& name);

/// A command's footer, in its two parts.
struct Footer {
    std::string notes;                  ///< whole lines; may be empty
    std::vector<std::string> examples;  ///< command lines: what stands below "Examples:"
};
Footer footer_of(const CLI::App& command);

/// "stapgen report [OPTIONS] FILE..."
std::string usage_of(const CLI::App& command);

struct OptionGroup {
    std::string title;
    std::vector<const CLI::Option*> options;
};

/// What stands on the command line without a name, in its order.
std::vector<const CLI::Option*> arguments_of(const CLI::App& command);

/// The arguments first, the help flags last.
std::vector<OptionGroup> option_groups(const CLI::App& command);

/// The same, and after them those options of its subcommands that the groups before have not.
std::vector<OptionGroup> all_option_groups(const CLI::App& command);

/// "-x", "--target-tid"; none of an argument.
std::vector<std::string> names_of(const CLI::Option& option);

/// As it is typed: "-x, --target-tid TID", "FILE...".
std::string shown_name(const CLI::Option& option);

bool takes_value(const CLI::Option& option);
bool is_repeatable(const CLI::Option& option);

/// What stands for its value, "TID"; empty for a flag.
std::string value_word(const CLI::Option& option);

/// What its value must be one of; empty if it is none of a few.
std::vector<std::string> choices_of(const CLI::Option& option);

/// "1 to 4095", of its value; empty if it is any.
std::string range_of(const CLI::Option& option);

/// What it does, its choices, range and default. `whole`: also what stands behind the first `;`, what it excludes
/// and the variable that stands for it.
std::string text_of(const CLI::Option& option, bool whole);

}  // namespace stapgen::cli
