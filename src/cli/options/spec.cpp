// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace stapgen::cli {

namespace {

constexpr std::array value_words{
    ValueWord{"ADDRESS", "an IPv4 or IPv6 address or network, no host name"},
    ValueWord{"CGROUP", "a cgroup's path, as in /proc/PID/cgroup"},
    ValueWord{"COMM", "a thread's name; the kernel keeps 15 bytes of it"},
    ValueWord{"CONTAINER", "a container's name, or the start of its id"},
    ValueWord{"DEV", "a network device's name"},
    ValueWord{"DURATION", "a number with its unit: ns, us, ms, s, m or h, as 250ms"},
    ValueWord{"FUNC", "a kernel function; * and ? are wildcards"},
    ValueWord{"HEX", "a hexadecimal number, with or without 0x"},
    ValueWord{"MARK", "a number of 32 bits, decimal or 0x"},
    ValueWord{"MOMENT",
              "90s or 5m after the start, 14:05 or 14:05:10 of that day, or '2026-11-25 14:05:10'; local time"},
    ValueWord{"MODULE", "a kernel module's name"},
    ValueWord{"NETNS", "a network namespace: a name of 'ip netns', a PID, or an inode"},
    ValueWord{"PERCENT", "a number, with or without %: 2.5%"},
    ValueWord{"PID", "a process ID: 'ps -e' lists them"},
    ValueWord{"RECIPE", "a recipe's name: 'stapgen list' lists them"},
    ValueWord{"RELEASE", "a kernel's release, as 'uname -r' prints it"},
    ValueWord{"SIZE", "a number with kB, MB, GB (powers of 1000) or KiB, MiB, GiB (also K, M, G; of 1024)"},
    ValueWord{"TID", "a thread ID: 'ps -eLo pid,tid,comm' lists them"},
    ValueWord{"TIME", "a number with ns, us, ms, s, m or h, as 250ms; without: seconds"},
    ValueWord{"WORKAROUND", "a workaround's name, as printed on stderr; or all"},
};

}  // namespace

OptionSpec option(std::string names, std::string value, std::string group, std::string help, std::string more,
                  Target target, Rules rules) {
    return {std::move(names), std::move(value), std::move(group), std::move(help),
            std::move(more),  target,           std::move(rules)};
}

bool is_argument(const OptionSpec& option) {
    return !option.names.starts_with('-');
}

bool is_flag(const OptionSpec& option) {
    return option.value.empty() || option.value.starts_with('[');
}

bool is_repeatable(const OptionSpec& option) {
    return std::holds_alternative<std::vector<std::string>*>(option.target) ||
           std::holds_alternative<std::vector<std::filesystem::path>*>(option.target);
}

std::vector<std::string> names_of(const OptionSpec& option) {
    std::vector<std::string> names;
    if (is_argument(option)) return names;
    for (const auto name : base::split(option.names, ','))
        names.emplace_back(name.substr(0, name.find('{')));
    return names;
}

std::string long_name(const OptionSpec& option) {
    if (is_argument(option)) return base::upper(option.names) + (is_repeatable(option) ? "..." : "");
    const auto names = names_of(option);
    const auto found = std::ranges::find_if(names, [](const std::string& name) { return name.starts_with("--"); });
    return found == names.end() ? names.front() : *found;
}

std::string range_text(const OptionSpec& option) {
    const auto& range = option.rules.range;
    if (!range || range->min == Range{}.min) return {};
    if (range->max == Range{}.max) return fmt::format("{} or more", range->min);
    return fmt::format("{} to {}", range->min, range->max);
}

std::string full_name(const CommandSpec& command) {
    return command.parent.empty() ? command.name : command.parent + ' ' + command.name;
}

const OptionSpec* option_named(const CommandSpec& command, std::string_view name) {
    const auto found = std::ranges::find_if(command.options, [&](const OptionSpec& option) {
        const auto names = names_of(option);
        return std::ranges::find(names, name) != names.end() || (!name.empty() && option.rules.old_name == name);
    });
    return found == command.options.end() ? nullptr : &*found;
}

const CommandSpec* command_named(const CommandSpec& parent, std::string_view name) {
    const auto found = std::ranges::find(parent.commands, name, &CommandSpec::name);
    return found == parent.commands.end() ? nullptr : &*found;
}

std::vector<const CommandSpec*> shown_commands(const CommandSpec& parent) {
    std::vector<const CommandSpec*> shown;
    for (const auto& command : parent.commands) {
        if (!command.hidden) shown.push_back(&command);
    }
    return shown;
}

std::vector<std::string> command_names(const CommandSpec& parent) {
    std::vector<std::string> names;
    for (const auto& command : parent.commands)
        names.push_back(command.name);
    return names;
}

bool takes_recipe(const CommandSpec& parent) {
    return std::ranges::all_of(parent.commands, [](const CommandSpec& command) { return command.recipe != nullptr; });
}

std::string_view plain_word(std::string_view value) {
    return value.substr(0, value.find_first_of("[./,"));
}

const ValueWord* value_word(std::string_view value) {
    const auto* found = std::ranges::find(value_words, plain_word(value), &ValueWord::word);
    return found == value_words.end() ? nullptr : found;
}

}  // namespace stapgen::cli
