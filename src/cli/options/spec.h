// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "recipe/catalog.h"

/// Commands and options as data: the parser, help, manual and completion read it.
namespace stapgen::cli {

/// The headings of options in help and manual.
namespace groups {
inline constexpr const char* hosts = "Hosts";
inline constexpr const char* filters = "Filters";
inline constexpr const char* time = "Time";
inline constexpr const char* output = "Output";
inline constexpr const char* more_output = "More output";
inline constexpr const char* names = "Names of addresses";
inline constexpr const char* compiling = "Compiling";
inline constexpr const char* running = "Running";
inline constexpr const char* other = "Options";
inline constexpr const char* general = "General";
inline constexpr const char* arguments = "Arguments";
/// Neither in help nor in the manual.
inline constexpr const char* hidden = "";
}  // namespace groups

/// Understands a value and puts it where it belongs.
using Reader = std::function<base::Result<void>(const std::string& typed)>;

/// Where a value is put. Nowhere: the parser itself acts on it. A vector: the option is repeatable. A map: under the
/// option's name without dashes, as text; a number where the option has a range.
using Target =
    std::variant<std::monostate, bool*, std::string*, std::size_t*, std::optional<std::string>*,
                 std::optional<std::filesystem::path>*, std::optional<std::int64_t>*, std::vector<std::string>*,
                 std::vector<std::filesystem::path>*, std::map<std::string, std::string>*, Reader>;

/// A Reader that puts into `to` what `parse` makes of a value. `may_be_empty`: an empty one is as good as none.
template <class Parse, class T>
Reader read_by(Parse parse, T& to, bool may_be_empty = true) {
    return [=, &to](const std::string& typed) -> base::Result<void> {
        if (may_be_empty && typed.empty()) return {};
        STAPGEN_LET(auto value, parse(typed));
        to = std::move(value);
        return {};
    };
}

/// The range of a whole number, both ends included.
struct Range {
    std::int64_t min = std::numeric_limits<std::int64_t>::min();
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

struct Rules {
    std::vector<std::string> choices{};
    std::optional<Range> range{};
    std::string default_value{};                   ///< empty: what the target holds
    std::vector<std::string> excludes{}, needs{};  ///< long names: "--format"
    std::string environment{};                     ///< the variable that stands for the option
    std::string old_name{};                        ///< still taken, shown nowhere
    bool required = false;
};

/// An option, or with a name without dashes an argument.
struct OptionSpec {
    std::string names;  ///< "-x,--target-tid"; of a flag that stands for a text: "--live{always},--no-live{never}"
    std::string value;  ///< stands for the value, "TID"; empty: a flag; "[=N]": a flag that may be given one
    std::string group;
    std::string help;  ///< one line, for the short help
    std::string more;  ///< what the whole help says besides; may be empty
    Target target;
    Rules rules{};
};

using OptionSpecs = std::vector<OptionSpec>;

/// One with rules.
OptionSpec option(std::string names, std::string value, std::string group, std::string help, std::string more,
                  Target target, Rules rules);

struct CommandSpec;

/// The surroundings of a command, beside the values of its options.
struct Call {
    const recipe::Program& program;
    const CommandSpec& root;
    const CommandSpec& command;
    const std::string& recipe_path;  ///< as typed
};

struct CommandSpec {
    std::string parent{};  ///< "stapgen build"; empty: this is stapgen itself
    std::string name{}, summary{};
    std::string notes{};  ///< whole lines
    std::vector<std::string> examples{};
    OptionSpecs options{};
    std::vector<CommandSpec> commands{};
    const recipe::Recipe* recipe = nullptr;  ///< that it runs, renders or builds
    bool hidden = false;
    bool rare = false;                                             ///< left out of a short help that is too long
    std::function<base::Result<void>(const Call& call)> action{};  ///< none: it needs a further word
    std::any values{};                                             ///< see values_of()
};

/// Makes what the options of a command are put into, of its own type, and lets its action have it. It lives as long as
/// the command, whose copies share it.
template <class Values>
Values& add_values(CommandSpec& command, base::Result<void> (*action)(const Call& call, const Values& values)) {
    auto values = std::make_shared<Values>();
    command.action = [=](const Call& call) { return action(call, *values); };
    command.values = values;
    return *values;
}

/// Null: the command's values are of another type.
template <class Values>
const Values* values_of(const CommandSpec& command) {
    const auto* values = std::any_cast<std::shared_ptr<Values>>(&command.values);
    return values == nullptr ? nullptr : values->get();
}

/// "-x", "--target-tid"; none of an argument.
std::vector<std::string> names_of(const OptionSpec& option);
/// The long name if there is one, of an argument as it is shown: "FILE...".
std::string long_name(const OptionSpec& option);
bool is_argument(const OptionSpec& option);
bool is_flag(const OptionSpec& option);
bool is_repeatable(const OptionSpec& option);
/// "1 to 65535", "1 or more"; empty if there is none.
std::string range_text(const OptionSpec& option);
/// "stapgen build rx-latency".
std::string full_name(const CommandSpec& command);

/// By any of its names, also an old one; null if there is none.
const OptionSpec* option_named(const CommandSpec& command, std::string_view name);
const CommandSpec* command_named(const CommandSpec& parent, std::string_view name);

/// Without the hidden ones.
std::vector<const CommandSpec*> shown_commands(const CommandSpec& parent);
std::vector<std::string> command_names(const CommandSpec& parent);
/// Whether a recipe follows it, and nothing else.
bool takes_recipe(const CommandSpec& parent);

/// A word that stands for a value in help, TID or TIME.
struct ValueWord {
    std::string_view word;
    std::string_view meaning;  ///< with its units
};

/// The word itself: of "SIZE[,N]" SIZE, of "ADDRESS[/PREFIX]" ADDRESS.
std::string_view plain_word(std::string_view value);

/// Null where the option says it all.
const ValueWord* value_word(std::string_view value);

}  // namespace stapgen::cli
