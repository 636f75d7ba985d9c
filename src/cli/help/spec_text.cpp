// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/help/spec_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace stapgen::cli {

namespace {

/// "table, json or csv".
std::string list_of(const std::vector<std::string>& words) {
    if (words.size() < 2) return words.empty() ? "" : words.front();
    return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::string sorted_list_of(std::vector<std::string> names) {
    std::ranges::sort(names);
    return list_of(names);
}

OptionGroup& group_named(std::vector<OptionGroup>& groups, const std::string& title) {
    const auto found = std::ranges::find(groups, title, &OptionGroup::title);
    return found == groups.end() ? groups.emplace_back(OptionGroup{title, {}}) : *found;
}

std::string default_of(const OptionSpec& option) {
    if (!option.rules.default_value.empty() || is_flag(option)) return option.rules.default_value;
    if (auto* const* text = std::get_if<std::string*>(&option.target)) return **text;
    if (auto* const* number = std::get_if<std::size_t*>(&option.target)) return fmt::to_string(**number);
    return {};
}

}  // namespace

std::string manual_name(const CommandSpec& command) {
    auto name = full_name(command);
    const auto verb = name.find(' ');
    // The page of build has its recipes.
    if (verb != std::string::npos) name = name.substr(0, name.find(' ', verb + 1));
    std::ranges::replace(name, ' ', '-');
    return name;
}

std::vector<const OptionSpec*> arguments_of(const CommandSpec& command) {
    std::vector<const OptionSpec*> arguments;
    for (const auto& option : command.options) {
        if (is_argument(option)) arguments.push_back(&option);
    }
    return arguments;
}

std::string usage_of(const CommandSpec& command) {
    auto usage = full_name(command);
    const auto commands = shown_commands(command);
    if (!commands.empty()) {
        usage += takes_recipe(command) ? " RECIPE" : command.parent.empty() ? " RECIPE|COMMAND" : " COMMAND";
    }
    usage += " [OPTIONS]";
    for (const auto* option : arguments_of(command)) {
        const auto name = shown_name(*option);
        usage += option->rules.required ? ' ' + name : fmt::format(" [{}]", name);
    }
    return usage;
}

std::vector<Section> command_sections(const CommandSpec& command) {
    std::vector<Section> sections{{"Recipes"}, {"Commands"}};
    for (const auto* one : shown_commands(command))
        sections[one->recipe != nullptr ? 0 : 1].rows.emplace_back(one->name, one->summary);
    std::erase_if(sections, [](const Section& section) { return section.rows.empty(); });
    return sections;
}

std::vector<OptionGroup> option_groups(const CommandSpec& command) {
    std::vector<OptionGroup> found;
    OptionGroup arguments{groups::arguments, {}}, general{groups::general, {}};
    for (const auto& option : command.options) {
        if (option.group == groups::hidden) continue;
        auto& group = option.group == groups::arguments ? arguments
                      : option.group == groups::general ? general
                                                        : group_named(found, option.group);
        group.options.push_back(&option);
    }
    if (!arguments.options.empty()) found.insert(found.begin(), std::move(arguments));
    found.push_back(std::move(general));
    return found;
}

std::vector<OptionGroup> all_option_groups(const CommandSpec& command) {
    auto all = option_groups(command);
    auto general = std::move(all.back());
    all.pop_back();
    for (const auto* subcommand : shown_commands(command)) {
        for (const auto& [title, options] : all_option_groups(*subcommand)) {
            auto& known = (title == groups::general ? general : group_named(all, title)).options;
            for (const auto* option : options) {
                const auto is_the_same = [&](const OptionSpec* other) {
                    return shown_name(*other) == shown_name(*option);
                };
                if (std::ranges::none_of(known, is_the_same)) known.push_back(option);
            }
        }
    }
    all.push_back(std::move(general));
    return all;
}

std::string shown_name(const OptionSpec& option) {
    if (is_argument(option)) return long_name(option);
    return fmt::format("{}{}{}", fmt::join(names_of(option), ", "), is_flag(option) ? "" : " ", option.value);
}

std::string option_text(const OptionSpec& option, bool whole) {
    const auto& rules = option.rules;
    auto text = option.help;
    if (!rules.choices.empty()) text += ": " + list_of(rules.choices);
    if (whole && !option.more.empty()) text += "; " + option.more;
    std::vector<std::string> remarks;
    if (rules.required && !is_argument(option)) remarks.emplace_back("required");
    if (const auto range = range_text(option); !range.empty()) remarks.push_back(range);
    if (const auto value = default_of(option); !value.empty()) remarks.push_back("default " + value);
    if (whole) {
        if (!rules.environment.empty()) remarks.push_back("or $" + rules.environment);
        if (is_repeatable(option) && !is_argument(option)) remarks.emplace_back("repeatable");
        if (!rules.needs.empty()) remarks.push_back("with " + sorted_list_of(rules.needs));
        if (!rules.excludes.empty()) remarks.push_back("not with " + sorted_list_of(rules.excludes));
    }
    if (!remarks.empty()) text += fmt::format(" ({})", fmt::join(remarks, "; "));
    return text;
}

std::vector<Section> whole_sections(const std::vector<OptionGroup>& groups) {
    std::vector<Section> sections;
    Section values{"Values"};
    for (const auto& [title, options] : groups) {
        if (options.empty()) continue;
        auto& section = sections.emplace_back(Section{title});
        for (const auto* option : options) {
            section.rows.emplace_back(shown_name(*option), option_text(*option, true));
            const auto* value = value_word(option->value);
            if (value == nullptr) continue;
            const std::pair<std::string, std::string> row(value->word, value->meaning);
            if (std::ranges::find(values.rows, row) == values.rows.end()) values.rows.push_back(row);
        }
    }
    if (!values.rows.empty()) sections.push_back(std::move(values));
    return sections;
}

}  // namespace stapgen::cli
