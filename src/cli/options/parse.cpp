// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options/parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "cli/options/usage_errors.h"

namespace stapgen::cli {

namespace {

void add_option(CLI::App& app, const OptionSpec& spec) {
    const auto& old_name = spec.rules.old_name;
    const auto names = old_name.empty() ? spec.names : spec.names + ',' + old_name;
    if (is_flag(spec)) {
        app.add_flag(names);
        return;
    }
    // How often it may be given read() says.
    auto* option = app.add_option(names)->take_all();
    if (is_argument(spec) && is_repeatable(spec)) option->expected(-1);
    if (!spec.rules.environment.empty()) option->envname(spec.rules.environment);
}

/// A command that no word names is left out: to make the options of all takes longer than all else at the start.
void add_command(CLI::App& app, const CommandSpec& spec, const std::vector<std::string>& words) {
    for (const auto& option : spec.options) {
        const bool is_done_by_parser = std::holds_alternative<std::monostate>(option.target);
        if (!is_done_by_parser) add_option(app, option);
    }
    for (const auto& command : spec.commands)
        if (std::ranges::find(words, command.name) != words.end())
            add_command(*app.add_subcommand(command.name), command, words);
    if (spec.action == nullptr) app.require_subcommand(1);
}

const CLI::Option* given(const CLI::App& app, const OptionSpec& spec) {
    const auto name = is_argument(spec) ? spec.names : names_of(spec).front();
    const auto* option = app.get_option_no_throw(name);
    return option == nullptr || option->count() == 0 ? nullptr : option;
}

template <class T>
std::optional<T> converted(const CLI::Option& option) {
    try {
        return option.as<T>();
    } catch (const CLI::Error&) {
        return std::nullopt;
    }
}

/// Puts a value where it belongs; false if it is none of the option's.
struct ValueSetter {
    const OptionSpec& spec;
    const CLI::Option& option;

    [[nodiscard]] std::string last() const { return option.results().back(); }
    [[nodiscard]] bool is_choice(const std::string& value) const {
        const auto& choices = spec.rules.choices;
        if (is_flag(spec) && spec.names.find('{' + value + '}') != std::string::npos) return true;
        if (choices.empty()) return !is_flag(spec);
        return std::ranges::find(choices, value) != choices.end();
    }
    [[nodiscard]] std::optional<std::int64_t> number() const {
        const auto value = converted<std::int64_t>(option);
        const auto range = spec.rules.range.value_or(Range{});
        return value && *value >= range.min && *value <= range.max ? value : std::nullopt;
    }

    base::Result<bool> operator()(std::monostate) const { return true; }
    base::Result<bool> operator()(bool* to) const {
        const auto value = converted<bool>(option);
        if (value) *to = *value;
        return value.has_value();
    }
    base::Result<bool> operator()(std::string* to) const {
        const bool good = is_choice(last());
        if (good) *to = last();
        return good;
    }
    template <class T>
    base::Result<bool> operator()(std::optional<T>* to) const {
        *to = last();
        return true;
    }
    template <class T>
    base::Result<bool> operator()(std::vector<T>* to) const {
        to->assign(option.results().begin(), option.results().end());
        return true;
    }
    base::Result<bool> operator()(std::optional<std::int64_t>* to) const {
        *to = number();
        return to->has_value();
    }
    base::Result<bool> operator()(std::size_t* to) const {
        const auto value = number();
        if (!value || *value < 0) return false;
        *to = static_cast<std::size_t>(*value);
        return true;
    }
    base::Result<bool> operator()(std::map<std::string, std::string>* to) const {
        auto& value = (*to)[long_name(spec).substr(2)];
        bool is_set = true;
        if (spec.rules.range) {
            const auto in_range = number();
            if (in_range) value = fmt::to_string(*in_range);
            return in_range.has_value();
        }
        if (spec.value.empty() && !*(*this)(&is_set)) return false;
        value = !spec.value.empty() ? last() : is_set ? "true" : "false";
        return true;
    }
    base::Result<bool> operator()(const Reader& read) const {
        return read(last()).map([] { return true; });
    }
};

base::Result<void> read_values(const CLI::App& app, const CommandSpec& command) {
    for (const auto& spec : command.options) {
        const auto* option = given(app, spec);
        if (option == nullptr) continue;
        const auto count = option->count();
        if (!is_flag(spec) && !is_repeatable(spec) && count > 1) {
            return tl::make_unexpected(
                usage_error(command, fmt::format("{} is given {} times", long_name(spec), count)));
        }
        STAPGEN_LET(const auto good, std::visit(ValueSetter{spec, *option}, spec.target));
        if (!good) return tl::make_unexpected(wrong_value(command, spec, option->results().back()));
    }
    return {};
}

base::Result<void> check_rules(const CLI::App& app, const CommandSpec& command) {
    for (const auto& spec : command.options) {
        const auto name = long_name(spec);
        const auto is_given = [&](const std::string& other) { return given(app, *option_named(command, other)); };
        if (given(app, spec) == nullptr) {
            if (spec.rules.required) return tl::make_unexpected(usage_error(command, name + " is missing"));
            continue;
        }
        for (const auto& other : spec.rules.excludes) {
            if (is_given(other))
                return tl::make_unexpected(usage_error(command, fmt::format("use {} or {}, not both", name, other)));
        }
        for (const auto& other : spec.rules.needs) {
            if (!is_given(other))
                return tl::make_unexpected(usage_error(command, fmt::format("{} needs {}", name, other)));
        }
    }
    return {};
}

/// Gives options of a command values as if they were typed, unless that goes against what was.
Setter setter_for(CLI::App& app, const CommandSpec& command) {
    std::set<std::string> typed;
    for (const auto& spec : command.options) {
        if (given(app, spec) != nullptr) typed.insert(long_name(spec));
    }
    return
        [&app, &command, typed](const OptionSpec& spec, const std::vector<std::string>& values) -> base::Result<bool> {
            auto* option = app.get_option_no_throw(names_of(spec).front());
            const auto is_typed = [&](const std::string& name) { return typed.contains(name); };
            const auto is_there = [&](const std::string& name) { return given(app, *option_named(command, name)); };
            const bool is_off = is_flag(spec) && values == std::vector<std::string>{"false"};
            if (option == nullptr || option->count() > 0 || is_off ||
                std::ranges::any_of(spec.rules.excludes, is_typed) || !std::ranges::all_of(spec.rules.needs, is_there))
                return true;
            if (values.empty() || (values.size() > 1 && !is_repeatable(spec))) return false;
            for (const auto& value : values)
                option->add_result(value);
            return std::visit(ValueSetter{spec, *option}, spec.target);
        };
}

base::Result<void> use_config(CLI::App& app, const CommandSpec& root, const CommandSpec& command,
                              const std::vector<ConfigFile>& config) {
    const auto value_of = [&](const char* name) -> std::optional<std::string> {
        const auto* spec = option_named(command, name);
        const auto* option = spec == nullptr ? nullptr : given(app, *spec);
        return option == nullptr ? std::nullopt : std::optional(option->results().back());
    };
    // What another stapgen steers is what that one says, on each host.
    if (value_of("--remote")) return {};
    return apply_config(config, root, command, value_of("--profile").value_or(""), setter_for(app, command));
}

/// The first words are the verb; without this a slip in it would be called an unexpected argument.
base::Result<void> check_verb(const CommandSpec& root, const recipe::Catalog& catalog,
                              const std::vector<std::string>& words, std::size_t first) {
    const auto* command = &root;
    for (auto at = first; at < words.size() && command->action == nullptr && !words[at].starts_with("-"); ++at) {
        const auto& word = words[at];
        const auto* next = command_named(*command, word);
        if (next == nullptr && takes_recipe(*command)) return tl::make_unexpected(no_script(*command, catalog, word));
        if (next == nullptr) {
            const auto broken = catalog.broken.find(word);
            const bool is_broken = command == &root && broken != catalog.broken.end();
            return tl::make_unexpected(is_broken ? broken->second : unknown_verb(*command, word));
        }
        command = next;
    }
    return {};
}

/// The command that the words came to.
std::pair<CLI::App*, const CommandSpec*> used_of(CLI::App& app, const CommandSpec& root) {
    std::pair used(&app, &root);
    while (!used.first->get_subcommands().empty()) {
        used.first = used.first->get_subcommands().front();
        used.second = command_named(*used.second, used.first->get_name());
    }
    return used;
}

base::Error error_of(CLI::App& app, const CommandSpec& root, const CLI::ParseError& error,
                     const std::vector<std::string>& words) {
    const auto& used = *used_of(app, root).second;
    const auto left = app.remaining(true);
    switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
        case CLI::ExitCodes::ExtrasError:
            return unknown_word(root, used, left.empty() ? words.back() : left.front());
        case CLI::ExitCodes::RequiredError:
            if (!left.empty() && left.front().starts_with("-")) return unknown_word(root, used, left.front());
            return usage_error(used, used.parent.empty() ? "no recipe or command given"
                                                         : fmt::format("{}: no {} given", used.name,
                                                                       takes_recipe(used) ? "recipe" : "command"));
        default:
            break;
    }
    // The words ended where a value should have been.
    const auto what = fmt::format("the value of {} is missing", base::printable(words.back()));
    const auto* option = option_named(used, words.back());
    if (option == nullptr || option->rules.choices.empty()) return usage_error(used, what);
    return usage_error(used, fmt::format("{}: use one of {}", what, fmt::join(option->rules.choices, ", ")));
}

}  // namespace

Beginning beginning_of(const std::vector<std::string>& words) {
    constexpr std::string_view option = "--recipe-path";
    Beginning beginning;
    auto& at = beginning.verb;
    while (at < words.size() && words[at].starts_with(option)) {
        const auto rest = words[at].substr(option.size());
        if (rest.starts_with("=")) {
            beginning.recipe_path = rest.substr(1);
        } else if (rest.empty() && at + 1 < words.size()) {
            beginning.recipe_path = words[++at];
        } else {
            break;
        }
        ++at;
    }
    return beginning;
}

base::Result<std::vector<std::string>> shell_words(std::string_view typed) {
    std::vector<std::string> words;
    char quote = 0;
    bool in_word = false;
    for (std::size_t i = 0; i < typed.size(); ++i) {
        const char c = typed[i];
        const char next = i + 1 < typed.size() ? typed[i + 1] : '\0';
        if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
            in_word = false;
            continue;
        }
        if (!std::exchange(in_word, true)) words.emplace_back();
        if (c == '\\' && next != '\0' && (quote == 0 || (quote == '"' && (next == '"' || next == '\\')))) {
            words.back() += next;
            ++i;
        } else if (c == quote) {
            quote = 0;
        } else if (quote == 0 && (c == '\'' || c == '"')) {
            quote = c;
        } else {
            words.back() += c;
        }
    }
    if (quote == 0) return words;
    return base::bad_input(fmt::format("a quote ({}) is not closed: {}", quote, base::printable(typed)),
                           "quotes come in pairs; \\ before one makes it a character");
}

namespace {

/// CLI11 takes the next word for the value of "--by=".
base::Result<void> refuse_empty_values(const std::vector<std::string>& words) {
    for (const auto& word : words) {
        if (word == "--") break;
        if (word.starts_with("--") && word.find('=') == word.size() - 1)
            return base::bad_input(fmt::format("{} has no value", base::printable(word)),
                                   "give one behind the =, or leave the option out");
    }
    return {};
}

}  // namespace

base::Result<Invocation> parse(const CommandSpec& root, const recipe::Catalog& catalog,
                               const std::vector<std::string>& words, const std::vector<ConfigFile>& config) {
    using Wanted = Invocation::Wanted;
    STAPGEN_TRY(check_verb(root, catalog, words, beginning_of(words).verb));
    STAPGEN_TRY(refuse_empty_values(words));
    CLI::App app;
    app.set_help_flag("-h,--help");
    app.set_help_all_flag("--help-all");
    app.set_version_flag("--version", "");
    add_command(app, root, words);
    try {
        // CLI11 takes the words last first.
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::CallForHelp&) {
        return Invocation{Wanted::short_help, used_of(app, root).second};
    } catch (const CLI::CallForAllHelp&) {
        return Invocation{Wanted::whole_help, used_of(app, root).second};
    } catch (const CLI::CallForVersion&) {
        return Invocation{Wanted::version, &root};
    } catch (const CLI::ParseError& error) {
        return tl::make_unexpected(error_of(app, root, error, words));
    }
    const auto [used, command] = used_of(app, root);
    STAPGEN_TRY(read_values(*used, *command));
    STAPGEN_TRY(use_config(*used, root, *command, config));
    STAPGEN_TRY(check_rules(*used, *command));
    return Invocation{Wanted::action, command};
}

}  // namespace stapgen::cli
