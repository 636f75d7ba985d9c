#include "doctor/check_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace stapgen::doctor {

namespace {

/// Lines of which all but the first begin with so many blanks, and which are to stand behind as many.
std::string block(std::string_view text, std::size_t indent) {
    const auto wrapped = base::wrapped(text, base::default_width - indent);
    std::string lines;
    for (const auto line : base::split(wrapped, '\n')) {
        if (!lines.empty()) lines += '\n' + std::string(indent, ' ');
        lines += line;
    }
    return lines;
}

/// A line for each command: one may be pasted as it is.
std::string remedy_lines(const Remedy& remedy, host::Distribution distribution) {
    using host::Distribution;
    std::string text;
    const auto add = [&text](const std::string& words) {
        if (!words.empty()) text += fmt::format("    {}\n", block(words, 4));
    };
    const auto& commands = remedy.commands;
    const bool alike = commands == host::everywhere(commands.debian);
    add(remedy.words + (remedy.words.empty() || commands.empty() ? "" : ":"));
    if (!commands.empty() && (alike || distribution != Distribution::other)) {
        text += fmt::format("      {}\n", host::command_here(commands, distribution));
    } else if (!commands.empty()) {
        text += fmt::format("      {}\n      {}\n      {}\n", commands.debian, commands.redhat, commands.suse);
    }
    add(remedy.otherwise);
    return text;
}

/// As lines that go below an error's hint, the last without its end.
std::string below_hint(const std::vector<Check>& checks, host::Distribution distribution) {
    if (checks.empty()) return {};
    return "\nstapgen doctor:\n" + std::string(base::trim(rows_text(checks, distribution)));
}

}  // namespace

std::string_view state_name(State state) {
    static constexpr std::array names{"ok", "workaround", "note", "missing"};
    return names[static_cast<std::size_t>(state)];
}

std::string rows_text(const std::vector<Check>& checks, host::Distribution distribution) {
    std::size_t first = 0, second = 0;
    for (const auto& check : checks) {
        first = std::max(first, check.id.size());
        second = std::max(second, state_name(check.state).size());
    }
    const auto indent = first + second + 2;
    std::string text;
    for (const auto& check : checks) {
        text += fmt::format("{:{}} {:{}} {}\n", check.id, first, state_name(check.state), second,
                            block(check.found, indent));
        text += remedy_lines(check.remedy, distribution);
    }
    return text;
}

std::string explanation_of(const host::System& machine, const Question& question, std::string_view ids) {
    return ids.empty() ? "" : below_hint(not_ok(examine(machine, question), ids), question.target.distribution);
}

base::Result<void> able(const std::vector<Check>& checks, const Subject& subject, host::Distribution distribution) {
    std::vector<Check> in_the_way;
    for (const auto& check : checks) {
        if (blocks(check, subject)) in_the_way.push_back(check);
    }
    if (in_the_way.empty()) return {};
    const auto first = in_the_way.front();
    in_the_way.erase(in_the_way.begin());
    return base::cannot_here(first.found,
                             remedy_text(first.remedy, distribution) + below_hint(in_the_way, distribution));
}

}  // namespace stapgen::doctor
