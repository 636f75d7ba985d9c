// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options/usage_errors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/text.h"

namespace stapgen::cli {

namespace {

/// The recipes beside this one that have that option.
std::vector<std::string> siblings_with(const CommandSpec& root, const CommandSpec& used, const std::string& option) {
    std::vector<std::string> names;
    if (used.recipe == nullptr) return names;
    const auto* parent = &root;
    for (const auto word : base::words(std::string_view(used.parent).substr(root.name.size())))
        parent = command_named(*parent, word);
    for (const auto& other : parent->commands) {
        if (other.recipe != nullptr && option_named(other, option) != nullptr) names.push_back(other.name);
    }
    return names;
}

/// `build` makes what `exec` runs: where an option belongs that was given to the other.
std::string belongs_to_other(const CommandSpec& root, const CommandSpec& used, const std::string& option) {
    const auto& exec = *command_named(root, "exec");
    const auto& build = *command_named(root, "build");
    if (used.parent == full_name(build) && option_named(exec, option) != nullptr)
        return fmt::format("{0} is for the run: 'stapgen exec FILE.ko {0} ...'", option);
    const auto has = [&](const CommandSpec& recipe) { return option_named(recipe, option) != nullptr; };
    if (&used == &exec && option == "--dry-run") return "'stapgen doctor FILE.ko' says whether it would run here";
    if (&used == &exec && std::ranges::any_of(build.commands, has))
        return fmt::format("{0} is compiled in: build again with it, 'stapgen build RECIPE {0} ...'", option);
    return {};
}

/// Where an option of the recipes belongs that was given to another command.
std::string belongs_to_recipe(const CommandSpec& root, const CommandSpec& used, const std::string& option) {
    const auto has = [&](const CommandSpec& other) {
        return other.recipe != nullptr && option_named(other, option) != nullptr;
    };
    const auto first = std::ranges::find_if(root.commands, has);
    if (used.recipe != nullptr || first == root.commands.end()) return {};
    const std::string name = std::ranges::count_if(root.commands, has) == 1 ? first->name : "RECIPE";
    if (used.name == "serve")
        return fmt::format("quote a recipe with its options: \"stapgen serve '{} {} ...'\"", name, option);
    return fmt::format("{0} is for measuring: 'stapgen {1} {0} ...'", option, name);
}

}  // namespace

base::Error usage_error(const CommandSpec& used, std::string what) {
    return {base::ErrorKind::bad_input, std::move(what), fmt::format("'{} --help' lists the options", full_name(used))};
}

std::optional<std::string> meant_option(const CommandSpec& used, std::string_view word) {
    if (!word.starts_with("--")) return std::nullopt;
    std::vector<std::string> options;
    for (const auto& option : used.options) {
        if (const auto name = long_name(option); name.starts_with("--")) options.push_back(name);
    }
    return base::did_you_mean(word.substr(0, word.find('=')), options);
}

base::Error unknown_word(const CommandSpec& root, const CommandSpec& used, const std::string& word) {
    const auto typed = word.substr(0, word.find('='));
    const bool is_option = typed.starts_with("-");
    auto error = usage_error(
        used, fmt::format("{} '{}'", is_option ? "unknown option" : "unexpected argument", base::printable(typed)));
    if (!is_option) {
        std::error_code error_code;
        if (used.recipe != nullptr && std::filesystem::exists(typed, error_code)) {
            error.hint = fmt::format("a file is reported by 'stapgen report {}'", base::printable(typed));
            return error;
        }
        const auto flag =
            std::ranges::find_if(used.options, [](const auto& option) { return option.value.starts_with("[="); });
        if (flag != used.options.end())
            error.hint = fmt::format("a value of {0} follows its name and '=': {0}={1}; {2}", long_name(*flag),
                                     base::printable(typed), error.hint);
        return error;
    }
    // It precedes the recipe.
    if (option_named(used, typed) != nullptr) {
        error.hint = fmt::format("options come after '{}': '{} {} ...'", used.name, full_name(used), typed);
        return error;
    }
    auto elsewhere = belongs_to_other(root, used, typed);
    if (elsewhere.empty()) elsewhere = belongs_to_recipe(root, used, typed);
    if (!elsewhere.empty()) {
        error.hint = elsewhere + "; " + error.hint;
        return error;
    }
    if (!typed.starts_with("--")) return error;
    if (const auto others = siblings_with(root, used, typed); !others.empty()) {
        error.hint =
            fmt::format("{} {} it; {}", fmt::join(others, ", "), others.size() == 1 ? "has" : "have", error.hint);
    } else if (const auto meant = meant_option(used, typed)) {
        error.hint = fmt::format("did you mean '{}'? {}", *meant, error.hint);
    }
    return error;
}

base::Error wrong_value(const CommandSpec& used, const OptionSpec& option, const std::string& value) {
    const auto name = long_name(option);
    const auto shown = base::printable(value);
    const auto& choices = option.rules.choices;
    if (!choices.empty())
        return usage_error(used, fmt::format("{}: '{}' is not one of {}", name, shown, fmt::join(choices, ", ")));
    if (is_flag(option)) return usage_error(used, fmt::format("{} takes no value", name));
    const auto range = range_text(option);
    auto error = usage_error(
        used, fmt::format("{}: '{}' is not a whole number{}", name, shown, range.empty() ? "" : ", " + range));
    if (const auto* meaning = value_word(option.value))
        error.hint = fmt::format("{} is {}", meaning->word, meaning->meaning);
    if (name == "--port" && value.find(',') != value.npos)
        error.hint = fmt::format("of several: --filter 'port {}'", fmt::join(base::split(shown, ','), " or port "));
    return error;
}

base::Error unknown_verb(const CommandSpec& command, const std::string& verb) {
    const auto shown = base::printable(verb);
    if (!command.parent.empty()) {
        auto error = usage_error(command, fmt::format("{} has no command '{}'", command.name, shown));
        for (const auto& below : command.commands) {
            if (command_named(below, verb) != nullptr) error.hint = fmt::format("'{} {}'", full_name(below), verb);
        }
        return error;
    }
    return {base::ErrorKind::bad_input, fmt::format("there is no recipe or command '{}'", shown),
            base::meant_hint(verb, command_names(command),
                             "'stapgen list' shows the recipes, 'stapgen --help' the commands",
                             " 'stapgen list' shows the recipes")};
}

base::Error no_script(const CommandSpec& command, const recipe::Catalog& catalog, const std::string& word) {
    const auto recipe = recipe::find_recipe(catalog, word);
    if (!recipe) return recipe.error();
    return {base::ErrorKind::bad_input,
            fmt::format("{0} {1}: {1} has no script; stapgen reads the kernel's counters itself", command.name,
                        recipe->name),
            fmt::format("run it: stapgen {0}; 'stapgen {0} --dry-run' lists what it reads", recipe->name)};
}

}  // namespace stapgen::cli
