// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options/parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/text.h"
#include "cli/options/typed.h"
#include "cli/options/usage_errors.h"

namespace stapgen::cli {

namespace {

using Values = std::vector<std::string>;

/// The text typed for an option, or that a file has for it; null: nothing.
const Values* values_for(const Typed& typed, const OptionSpec& spec) {
    const auto found = typed.given.find(&spec);
    return found == typed.given.end() ? nullptr : &found->second;
}

/// The environment's text for an option that was not typed.
void add_environment(Typed& typed) {
    for (const auto& spec : typed.command->options) {
        const char* value = spec.rules.environment.empty() ? nullptr : std::getenv(spec.rules.environment.c_str());
        if (value != nullptr && *value != 0 && values_for(typed, spec) == nullptr) typed.given[&spec] = {value};
    }
}

std::optional<bool> truth_of(std::string_view value) {
    constexpr std::array yes{"true", "yes", "on", "1"}, no{"false", "no", "off", "0"};
    if (std::ranges::find(yes, value) != yes.end()) return true;
    return std::ranges::find(no, value) != no.end() ? std::optional(false) : std::nullopt;
}

/// Puts a value where it belongs; false if it is none of the option's.
struct ValueSetter {
    const OptionSpec& spec;
    const Values& values;

    [[nodiscard]] const std::string& last() const { return values.back(); }
    [[nodiscard]] bool is_choice(const std::string& value) const {
        const auto& choices = spec.rules.choices;
        if (is_flag(spec) && spec.names.find('{' + value + '}') != std::string::npos) return true;
        if (choices.empty()) return !is_flag(spec);
        return std::ranges::find(choices, value) != choices.end();
    }
    [[nodiscard]] std::optional<std::int64_t> number() const {
        const auto value = base::to_int(last());
        const auto range = spec.rules.range.value_or(Range{});
        return value && *value >= range.min && *value <= range.max ? value : std::nullopt;
    }

    base::Result<bool> operator()(std::monostate) const { return true; }
    base::Result<bool> operator()(bool* to) const {
        const auto value = truth_of(last());
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
        to->assign(values.begin(), values.end());
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

base::Result<void> read_values(const Typed& typed) {
    const auto& command = *typed.command;
    for (const auto& spec : command.options) {
        const auto* values = values_for(typed, spec);
        if (values == nullptr) continue;
        if (!is_flag(spec) && !is_repeatable(spec) && values->size() > 1) {
            return tl::make_unexpected(
                usage_error(command, fmt::format("{} is given {} times", long_name(spec), values->size())));
        }
        STAPGEN_LET(const auto good, std::visit(ValueSetter{spec, *values}, spec.target));
        if (!good) return tl::make_unexpected(wrong_value(command, spec, values->back()));
    }
    return {};
}

base::Result<void> check_rules(const Typed& typed) {
    const auto& command = *typed.command;
    for (const auto& spec : command.options) {
        const auto name = long_name(spec);
        const auto is_given = [&](const std::string& other) {
            return values_for(typed, *option_named(command, other)) != nullptr;
        };
        if (values_for(typed, spec) == nullptr) {
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
Setter setter_for(Typed& typed) {
    std::set<std::string> names;
    for (const auto& [spec, values] : typed.given)
        names.insert(long_name(*spec));
    return [&typed, names](const OptionSpec& spec, const Values& values) -> base::Result<bool> {
        const auto is_typed = [&](const std::string& name) { return names.contains(name); };
        const auto is_there = [&](const std::string& name) {
            return values_for(typed, *option_named(*typed.command, name)) != nullptr;
        };
        const bool is_off = is_flag(spec) && values == Values{"false"};
        if (values_for(typed, spec) != nullptr || is_off || std::ranges::any_of(spec.rules.excludes, is_typed) ||
            !std::ranges::all_of(spec.rules.needs, is_there))
            return true;
        if (values.empty() || (values.size() > 1 && !is_repeatable(spec))) return false;
        return std::visit(ValueSetter{spec, typed.given[&spec] = values}, spec.target);
    };
}

base::Result<void> use_config(Typed& typed, const CommandSpec& root, const std::vector<ConfigFile>& config) {
    const auto value_of = [&](const char* name) -> std::optional<std::string> {
        const auto* spec = option_named(*typed.command, name);
        const auto* values = spec == nullptr ? nullptr : values_for(typed, *spec);
        return values == nullptr ? std::nullopt : std::optional(values->back());
    };
    // A stapgen that another one steers does what that one says, on each host.
    if (value_of("--remote")) return {};
    return apply_config(config, root, *typed.command, value_of("--profile").value_or(""), setter_for(typed));
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

/// The error in the words, whatever their values are: one that nothing knows, a value or a command that is
/// missing.
base::Result<void> check_words(const Typed& typed, const CommandSpec& root) {
    const auto& used = *typed.command;
    const auto& unknown = typed.unknown;
    const bool lacks_command = used.action == nullptr;
    if (!unknown.empty() && (!lacks_command || unknown.front().starts_with('-')))
        return tl::make_unexpected(unknown_word(root, used, unknown.front()));
    if (!lacks_command) return {};
    return tl::make_unexpected(
        usage_error(used, used.parent.empty()
                              ? "no recipe or command given"
                              : fmt::format("{}: no {} given", used.name, takes_recipe(used) ? "recipe" : "command")));
}

base::Error missing_value(const Typed& typed, const std::string& word) {
    const auto what = fmt::format("the value of {} is missing", base::printable(word));
    const auto& choices = typed.value_of->rules.choices;
    if (choices.empty()) return usage_error(*typed.command, what);
    return usage_error(*typed.command, fmt::format("{}: use one of {}", what, fmt::join(choices, ", ")));
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

/// "--by=" is a slip, or a variable of a shell that is empty.
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
    Typed typed{.command = &root};
    for (const auto& word : words)
        typed.take(word);
    const auto& command = *typed.command;
    if (typed.value_of != nullptr) return tl::make_unexpected(missing_value(typed, words.back()));
    for (const auto& [name, wanted] :
         {std::pair("--help", Wanted::short_help), std::pair("--help-all", Wanted::whole_help)}) {
        const auto is_it = [&](const auto& one) { return long_name(*one.first) == name; };
        if (std::ranges::any_of(typed.given, is_it)) return Invocation{wanted, &command};
    }
    const auto* version = option_named(root, "--version");
    if (version != nullptr && typed.given.contains(version)) return Invocation{Wanted::version, &root};
    STAPGEN_TRY(check_words(typed, root));
    add_environment(typed);
    STAPGEN_TRY(read_values(typed));
    STAPGEN_TRY(use_config(typed, root, config));
    STAPGEN_TRY(check_rules(typed));
    return Invocation{Wanted::action, &command};
}

}  // namespace stapgen::cli
