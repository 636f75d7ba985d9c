// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/help/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/help/spec_text.h"

namespace stapgen::cli {

namespace {

constexpr std::ptrdiff_t screen_lines = 24;
constexpr std::size_t text_column = 26;
constexpr std::size_t command_column = 14;
constexpr std::size_t max_examples = 3;  ///< of the short help

/// Groups that only the whole help has.
bool is_for_later(const std::string& group) {
    constexpr std::array later{groups::more_output, groups::compiling, groups::running, groups::general};
    return std::ranges::find(later, group) != later.end();
}

/// Where the short help is too long, the options of these groups, the first first, are there by name only.
constexpr std::array briefest{"Recipes", groups::hosts, groups::filters, groups::names, groups::output, groups::time};

bool is_brief(const std::string& group, std::size_t brief) {
    return std::ranges::find(briefest, group) - briefest.begin() < static_cast<std::ptrdiff_t>(brief);
}

std::string row(const std::string& left, const std::string& text, std::size_t width, std::size_t column = text_column) {
    auto out = base::fitted("  " + left, width);
    if (out.size() + 2 > column || out.find('\n') != std::string::npos) {
        out += '\n' + std::string(column, ' ');
    } else {
        out.resize(column, ' ');
    }
    return out + base::wrapped(text, width, column, column) + '\n';
}

/// "Filters: -x TID, --port N": what belongs together is not parted at a line's end.
std::string paragraph(const std::string& title, std::vector<std::string> parts, std::size_t width) {
    constexpr char joint = '\x1f';
    for (auto& part : parts)
        std::ranges::replace(part, ' ', joint);
    auto text = base::wrapped(fmt::format("{}: {}", title, fmt::join(parts, ", ")), width, 2);
    std::ranges::replace(text, joint, ' ');
    return text + '\n';
}

/// The shortest name with its value: "-x TID"; of an argument its own.
std::string brief_name(const OptionSpec& option) {
    if (is_argument(option)) return shown_name(option);
    return names_of(option).front() + (is_flag(option) ? "" : " ") + option.value;
}

std::string examples_of(const CommandSpec& command, std::size_t most, std::size_t width) {
    auto examples = command.examples;
    if (examples.empty()) return {};
    if (most == 1 && examples.size() > most) return base::fitted_command("Example: " + examples.front(), width) + '\n';
    examples.resize(std::min(most, examples.size()));
    for (auto& example : examples)
        example = base::fitted_command("  " + example, width).substr(2);
    return fmt::format("Examples:\n  {}\n\n", fmt::join(examples, "\n  "));
}

std::string rows_text(const Section& section, std::size_t width, std::size_t column = text_column) {
    std::string out = section.title + ":\n";
    for (const auto& [name, text] : section.rows)
        out += row(name, text, width, column);
    return out;
}

std::string subcommands_text(const CommandSpec& command, std::size_t brief, std::size_t width) {
    std::string out;
    for (auto section : command_sections(command)) {
        if (brief > 0)
            std::erase_if(section.rows, [&](const auto& row) { return command_named(command, row.first)->rare; });
        std::vector<std::string> names;
        for (const auto& [name, summary] : section.rows)
            names.push_back(name);
        out += is_brief(section.title, brief) ? paragraph(section.title, names, width)
                                              : rows_text(section, width, command_column);
    }
    return out;
}

std::string group_text(const OptionGroup& group, std::size_t brief, std::size_t width) {
    if (group.options.empty() || is_for_later(group.title)) return {};
    std::vector<std::string> names;
    Section section{group.title};
    for (const auto* option : group.options) {
        names.push_back(brief_name(*option));
        section.rows.emplace_back(shown_name(*option), option_text(*option, false));
    }
    return is_brief(group.title, brief) ? paragraph(group.title, names, width) : rows_text(section, width);
}

std::string short_help(const CommandSpec& command, std::size_t brief, std::size_t examples, std::size_t width) {
    // Where there is room for one example only, there is none for an empty line.
    std::string out =
        base::wrapped(command.summary, width) + (examples > 1 ? "\n\n" : "\n") + examples_of(command, examples, width);
    if (!command.parent.empty()) {
        const bool plain = arguments_of(command).empty() && shown_commands(command).empty();
        if (!plain) out += base::fitted(fmt::format("Usage: {}\n", usage_of(command)), width);
    }
    out += subcommands_text(command, brief, width);
    for (const auto& group : option_groups(command))
        out += group_text(group, brief, width);
    auto more = fmt::format("More: --help-all; man {}", manual_name(command));
    // Their options are those of each.
    const bool are_recipes =
        std::ranges::any_of(command.commands, [](const auto& below) { return below.recipe != nullptr; });
    if (are_recipes && !command.parent.empty())
        more = fmt::format("Options: {} RECIPE --help\n", full_name(command)) + more;
    if (command.recipe != nullptr) more += "; stapgen show " + command.name;
    return out + base::fitted(more, width) + '\n';
}

}  // namespace

std::size_t help_width() {
    const auto columns = base::terminal_columns(STDOUT_FILENO);
    return columns == 0 ? base::default_width : std::min(columns, base::default_width);
}

std::string short_help(const CommandSpec& command, std::size_t width) {
    std::string out;
    for (std::size_t brief = 0; brief <= briefest.size(); ++brief) {
        out = short_help(command, brief, max_examples, width);
        if (std::ranges::count(out, '\n') <= screen_lines) return out;
    }
    return short_help(command, briefest.size(), 1, width);
}

std::string whole_help(const CommandSpec& command, std::size_t width) {
    std::string out = base::wrapped(command.summary, width) + "\n\n" +
                      examples_of(command, command.examples.size(), width) +
                      base::fitted(fmt::format("Usage: {}\n", usage_of(command)), width);
    if (const auto subcommands = subcommands_text(command, 0, width); !subcommands.empty()) out += '\n' + subcommands;
    for (const auto& section : whole_sections(option_groups(command)))
        out += '\n' + rows_text(section, width);
    if (!command.notes.empty()) out += '\n' + base::reflowed(command.notes, width);
    return out;
}

base::Result<std::string> help_of(const CommandSpec& root, const std::vector<std::string>& words, std::size_t width) {
    const auto* command = &root;
    for (const auto& word : words) {
        const auto* next = command_named(*command, word);
        if (next == nullptr) {
            std::vector<std::string> names;
            for (const auto* one : shown_commands(*command))
                names.push_back(one->name);
            if (command == &root) {
                for (const auto& topic : help_topics()) {
                    names.emplace_back(topic.name);
                    if (topic.name != word) continue;
                    const auto text = topic.text(root, {words.begin() + 1, words.end()});
                    return text ? base::fitted(*text, width) : text;
                }
            }
            return base::bad_input(
                fmt::format("{} has no recipe or command '{}'", full_name(*command), base::printable(word)),
                base::meant_hint(word, names, "'stapgen help' lists them"));
        }
        command = next;
    }
    return whole_help(*command, width);
}

}  // namespace stapgen::cli
