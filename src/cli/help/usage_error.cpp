#include "cli/help/usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "cli/help/command_tree.h"
#include "cli/help/values.h"
#include "cli/options/option_groups.h"

namespace stapgen::cli {

namespace {

std::string long_name(const CLI::Option& option) {
    if (option.get_positional()) return shown_name(option);
    const auto& names = option.get_lnames();
    return names.empty() ? names_of(option).front() : "--" + names.front();
}

/// The recipes beside this one that have that option, with commas between them; empty if it is no option of any.
std::string siblings_with(const CLI::App& command, const std::string& option) {
    std::vector<std::string> names;
    if (command.get_parent() == nullptr || command.get_group() != groups::recipes) return {};
    for (const auto* other : subcommands_of(*command.get_parent())) {
        if (other->get_group() == groups::recipes && other->get_option_no_throw(option) != nullptr)
            names.push_back(other->get_name());
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

/// `build` makes what `exec` runs: where an option belongs that was given to the other.
std::string belongs_to_other(const CLI::App& app, const CLI::App& used, const std::string& option) {
    const auto* build = subcommand_of(app, "build");
    const auto* exec = subcommand_of(app, "exec");
    if (build == nullptr || exec == nullptr) return {};
    if (used.get_parent() == build && exec->get_option_no_throw(option) != nullptr) {
        return fmt::format("{} is for the run: 'stapgen exec FILE.ko {} ...'", option, option);
    }
    const auto recipes = subcommands_of(*build);
    const bool built_in = std::ranges::any_of(
        recipes, [&](const CLI::App* recipe) { return recipe->get_option_no_throw(option) != nullptr; });
    if (&used == exec && built_in) {
        return fmt::format("{} is compiled in: build again with it, 'stapgen build RECIPE {} ...'", option, option);
    }
    return {};
}

void explain_extra(const CLI::App& app, const CLI::App& used, const std::string& word, base::Error& error) {
    const auto typed = word.substr(0, word.find('='));
    error.what = fmt::format("{} '{}'", typed.starts_with("-") ? "unknown option" : "unexpected argument",
                             base::printable(typed));
    if (!typed.starts_with("-")) return;
    if (const auto elsewhere = belongs_to_other(app, used, typed); !elsewhere.empty()) {
        error.hint = elsewhere + "; " + error.hint;
        return;
    }
    if (!typed.starts_with("--")) return;
    std::vector<std::string> options;
    for (const auto* option : used.get_options()) {
        for (const auto& name : option->get_lnames())
            options.push_back("--" + name);
    }
    if (const auto others = siblings_with(used, typed); !others.empty()) {
        error.hint =
            fmt::format("{} {} it; {}", others, others.find(',') == std::string::npos ? "has" : "have", error.hint);
    } else if (const auto meant = base::did_you_mean(typed, options)) {
        error.hint = fmt::format("did you mean '{}'? {}", *meant, error.hint);
    }
}

std::string what_is_missing(const CLI::App& used) {
    for (const auto* option : used.get_options()) {
        if (option->get_required() && option->count() == 0) {
            return fmt::format("{} is missing", long_name(*option));
        }
    }
    return used.get_parent() == nullptr ? "no recipe and no command is given"
                                        : fmt::format("{}: no recipe is given", used.get_name());
}

/// Of two options of which one excludes or needs the other.
std::string what_goes_together(const CLI::App& used) {
    for (const auto* option : used.get_options()) {
        if (option->count() == 0) continue;
        for (const auto* other : option->get_excludes()) {
            if (other->count() > 0) {
                return fmt::format("{} and {}: only one of them", long_name(*option), long_name(*other));
            }
        }
        for (const auto* other : option->get_needs()) {
            if (other->count() == 0) return fmt::format("{} needs {}", long_name(*option), long_name(*other));
        }
    }
    return {};
}

/// Whether reading the option's values once more fails again.
bool is_refused(CLI::Option& option) {
    if (option.count() == 0) return false;
    try {
        option.run_callback();
    } catch (const CLI::ParseError&) {
        return true;
    }
    return false;
}

void explain_value(const CLI::Option& option, base::Error& error) {
    const auto name = long_name(option);
    const auto values = option.results();
    if (!is_repeatable(option) && values.size() > 1) {
        error.what = fmt::format("{} is given {} times", name, values.size());
        return;
    }
    const auto value = base::printable(values.empty() ? "" : values.back());
    if (const auto choices = choices_of(option); !choices.empty()) {
        error.what = fmt::format("{}: '{}' is none of {}", name, value, fmt::join(choices, ", "));
        return;
    }
    if (!takes_value(option)) {
        error.what = fmt::format("{} takes no value", name);
        return;
    }
    const auto range = range_of(option);
    const auto* meaning = meaning_of(value_word(option));
    error.what = fmt::format("{}: '{}' is not a whole number{}", name, value, range.empty() ? "" : ", " + range);
    if (meaning != nullptr) error.hint = fmt::format("{} is {}", meaning->word, meaning->meaning);
}

}  // namespace

base::Error usage_error(CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
    CLI::App* used = &app;
    while (!used->get_subcommands().empty())
        used = used->get_subcommands().front();
    base::Error result{
        base::ErrorKind::bad_input, {}, fmt::format("'{} --help' shows what there is", full_name(*used))};
    switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
        case CLI::ExitCodes::ExtrasError:
            if (const auto left = used->remaining(true); !left.empty()) explain_extra(app, *used, left.front(), result);
            break;
        case CLI::ExitCodes::RequiredError:
            result.what = what_is_missing(*used);
            break;
        case CLI::ExitCodes::RequiresError:
        case CLI::ExitCodes::ExcludesError:
            result.what = what_goes_together(*used);
            break;
        default:
            for (auto* option : used->get_options()) {
                if (!is_refused(*option)) continue;
                explain_value(*option, result);
                break;
            }
    }
    // The words ended where a value should have been.
    if (result.what.empty()) result.what = fmt::format("the value of {} is missing", base::printable(words.back()));
    return result;
}

}  // namespace stapgen::cli
