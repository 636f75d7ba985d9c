#include "cli/options/usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "cli/options/value_words.h"

namespace stapgen::cli {

namespace {

/// The recipes beside this one that have that option.
std::vector<std::string> siblings_with(const CommandSpec& root, const CommandSpec& used, const std::string& option) {
    std::vector<std::string> names;
    if (used.recipe == nullptr) return names;
    const auto* parent = used.verb == Verb::run      ? &root
                         : used.verb == Verb::render ? command_named(root, "render")
                                                     : command_named(root, "build");
    for (const auto& other : parent->commands) {
        if (other.recipe != nullptr && option_named(other, option) != nullptr) names.push_back(other.name);
    }
    return names;
}

/// `build` makes what `exec` runs: where an option belongs that was given to the other.
std::string belongs_to_other(const CommandSpec& root, const CommandSpec& used, const std::string& option) {
    const auto& exec = *command_named(root, "exec");
    const auto& build = *command_named(root, "build");
    if (used.verb == Verb::build && option_named(exec, option) != nullptr)
        return fmt::format("{0} is for the run: 'stapgen exec FILE.ko {0} ...'", option);
    const auto has = [&](const CommandSpec& recipe) { return option_named(recipe, option) != nullptr; };
    if (used.verb == Verb::exec && std::ranges::any_of(build.commands, has))
        return fmt::format("{0} is compiled in: build again with it, 'stapgen build RECIPE {0} ...'", option);
    return {};
}

}  // namespace

base::Error usage_error(const CommandSpec& used, std::string what) {
    return {base::ErrorKind::bad_input, std::move(what),
            fmt::format("'{} --help' shows what there is", full_name(used))};
}

base::Error unknown_word(const CommandSpec& root, const CommandSpec& used, const std::string& word) {
    const auto typed = word.substr(0, word.find('='));
    const bool is_option = typed.starts_with("-");
    auto error = usage_error(
        used, fmt::format("{} '{}'", is_option ? "unknown option" : "unexpected argument", base::printable(typed)));
    if (!is_option) return error;
    if (const auto elsewhere = belongs_to_other(root, used, typed); !elsewhere.empty()) {
        error.hint = elsewhere + "; " + error.hint;
        return error;
    }
    if (!typed.starts_with("--")) return error;
    std::vector<std::string> options;
    for (const auto& option : used.options) {
        if (const auto name = long_name(option); name.starts_with("--")) options.push_back(name);
    }
    if (const auto others = siblings_with(root, used, typed); !others.empty()) {
        error.hint =
            fmt::format("{} {} it; {}", fmt::join(others, ", "), others.size() == 1 ? "has" : "have", error.hint);
    } else if (const auto meant = base::did_you_mean(typed, options)) {
        error.hint = fmt::format("did you mean '{}'? {}", *meant, error.hint);
    }
    return error;
}

base::Error wrong_value(const CommandSpec& used, const OptionSpec& option, const std::string& value) {
    const auto name = long_name(option);
    const auto shown = base::printable(value);
    const auto& choices = option.rules.choices;
    if (!choices.empty())
        return usage_error(used, fmt::format("{}: '{}' is none of {}", name, shown, fmt::join(choices, ", ")));
    if (is_flag(option)) return usage_error(used, fmt::format("{} takes no value", name));
    const auto range = range_text(option);
    auto error = usage_error(
        used, fmt::format("{}: '{}' is not a whole number{}", name, shown, range.empty() ? "" : ", " + range));
    if (const auto* meaning = meaning_of(option.value))
        error.hint = fmt::format("{} is {}", meaning->word, meaning->meaning);
    return error;
}

base::Error unknown_verb(const CommandSpec& root, const std::string& verb) {
    const auto meant = base::did_you_mean(verb, command_names(root));
    return {base::ErrorKind::bad_input, fmt::format("there is no recipe or command '{}'", base::printable(verb)),
            meant ? fmt::format("did you mean '{}'? 'stapgen list' shows the recipes", *meant)
                  : "'stapgen list' shows the recipes, 'stapgen --help' the commands"};
}

}  // namespace stapgen::cli
