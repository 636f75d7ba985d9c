// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "base/text.h"
#include "doctor/checks.h"

namespace stapgen::doctor {

std::string short_text(const host::System& system, const std::filesystem::path& file) {
    return std::string(base::trim(system.read(file, 4096).value_or("")));
}

namespace {

struct Row {
    std::string_view id;
    Blocks blocks;  ///< where it is missing; and what it is looked at for
    CheckFunction* check;
    bool is_workaround = false;
};

/// What cannot be changed here before what can be installed; and to those it is not for, staprun looks as if it were
/// not there.
constexpr Row fundamental[] = {
    {"module", Blocks::loading, module},
    {"platform", Blocks::loading, platform},
    {"privileges", Blocks::loading, privileges},
    {"modules", Blocks::loading, modules},
    {"module-signing", Blocks::loading, module_signing},
    {"running-kernel", Blocks::loading, running_kernel},
    {"staprun", Blocks::loading, staprun},
    {"debugfs", Blocks::loading, debugfs},
    {"container", Blocks::compiling, container},
    {"systemtap", Blocks::compiling, systemtap},
    {"headers", Blocks::compiling, headers},
    {"compiler", Blocks::compiling, compiler},
    {"kernel-options", Blocks::compiling, kernel_options},
    {"symbol-table", Blocks::functions, symbol_table, true},
    {"trace-headers", Blocks::compiling, trace_headers, true},
};
constexpr Row others[] = {
    {"debuginfo", Blocks::compiling, debuginfo},
    {"kernel", Blocks::compiling, kernel},
    {"first-run", Blocks::compiling, first_run},
    {"disk", Blocks::compiling, disk},
    {"memory", Blocks::loading, memory},
    {"ftrace", Blocks::loading, ftrace},
    {"tracefs", Blocks::loading, tracefs},
    {"leftovers", Blocks::loading, leftovers},
    {"interrupt-threads", Blocks::loading, interrupt_threads},
};

/// Where a text begins that follows `indent` columns: in a line of its own where one of its words is too
/// long for that.
std::size_t indent_of(std::string_view text, std::size_t indent, std::size_t width) {
    const bool fits = std::ranges::all_of(base::words(text), [&](auto word) { return indent + word.size() <= width; });
    return fits ? indent : 4;
}

/// A line for each command: one may be pasted as it is.
std::string remedy_lines(const Remedy& remedy, host::Distribution distribution, std::size_t width,
                         const base::Screen& screen) {
    using host::Distribution;
    std::string text;
    const auto add = [&](const std::string& words) {
        if (!words.empty()) text += fmt::format("    {}\n", base::wrapped(words, width, 4, 4));
    };
    const auto add_command = [&](const std::string& command) {
        text += base::fitted_command("      " + command, screen.width) + '\n';
    };
    const auto& commands = remedy.commands;
    const bool alike = commands == host::everywhere(commands.debian);
    add(remedy.words + (remedy.words.empty() || commands.empty() ? "" : ":"));
    if (!commands.empty() && (alike || distribution != Distribution::other)) {
        add_command(std::string(host::command_here(commands, distribution)));
    } else if (!commands.empty()) {
        for (const auto& command : {commands.debian, commands.redhat, commands.suse})
            add_command(command);
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

std::vector<Check> examine(const host::System& system, const Question& question) {
    std::vector<Check> checks;
    const auto add = [&](std::span<const Row> rows) {
        for (const auto& row : rows) {
            if (!(row.blocks == Blocks::loading ? question.to_load : question.to_compile)) continue;
            auto check = row.check(system, question);
            if (check.found.empty()) continue;
            check.id = row.id;
            if (check.state == State::missing) check.blocks = row.blocks;
            if (check.state != State::ok && row.is_workaround) check.workaround = row.id;
            checks.push_back(std::move(check));
        }
    };
    add(fundamental);
    if (question.to_compile) std::ranges::move(workarounds(question), std::back_inserter(checks));
    add(others);
    // Files of a build tree or a container can hold anything.
    for (auto& check : checks) {
        auto& [words, commands, otherwise] = check.remedy;
        for (auto* text : {&check.found, &words, &commands.debian, &commands.redhat, &commands.suse, &otherwise})
            *text = base::printable(*text);
    }
    return checks;
}

bool blocks(const Check& check, const Subject& subject) {
    if (check.state != State::missing || subject.reads_counters) return false;
    return check.blocks != Blocks::nothing && (check.blocks != Blocks::functions || subject.probes_functions);
}

namespace {

/// What the others come from: no package mends it.
bool is_platform_note(const Check& check) {
    return check.id == "platform" && check.state == State::note;
}

}  // namespace

std::string remedy_text(const Remedy& remedy, host::Distribution distribution) {
    auto text = remedy.words;
    if (!remedy.commands.empty()) {
        text += (text.empty() ? "" : ": ") + host::command_here(remedy.commands, distribution);
    }
    if (!remedy.otherwise.empty()) text += (text.empty() ? "" : "; ") + remedy.otherwise;
    return text;
}

std::vector<Check> most_urgent_first(std::vector<Check> checks) {
    std::ranges::stable_sort(checks, std::greater<>(), &Check::state);
    return checks;
}

std::vector<Check> not_ok(const std::vector<Check>& checks, std::string_view ids) {
    std::vector<Check> found;
    for (const auto& check : checks) {
        const bool is_workaround = check.workaround == check.id && check.id != "symbol-table";
        if (check.state != State::missing && check.state != State::note) continue;
        if (base::contains_word(ids, check.id) || (is_workaround && base::contains_word(ids, "workarounds")))
            found.push_back(check);
    }
    return found;
}

Verdict conclude(const std::vector<Check>& checks, const Question& question) {
    Verdict verdict;
    const auto& target = question.target;
    const Check* first = nullptr;
    bool could_load = question.to_load;
    for (const auto& subject : question.subjects) {
        const auto in_the_way =
            std::find_if(checks.begin(), checks.end(), [&](const Check& check) { return blocks(check, subject); });
        (in_the_way == checks.end() ? verdict.able : verdict.unable).push_back(subject.name);
        if (in_the_way != checks.end() && first == nullptr) first = &*in_the_way;
    }
    const auto platform = std::ranges::find_if(checks, is_platform_note);
    if (first != nullptr && platform != checks.end()) first = &*platform;
    for (const auto& check : checks)
        could_load = could_load && !(check.state == State::missing && check.blocks == Blocks::loading);

    const auto here = question.to_load ? std::string("run here") : fmt::format("compile here for {}", target.release);
    const auto names = [&](const std::vector<std::string>& list) {
        if (list.size() == question.subjects.size() && list.size() > 1) return std::string("all recipes");
        return fmt::format("{}", fmt::join(list, ", "));
    };
    if (verdict.unable.empty()) {
        verdict.what = fmt::format("{} will {}", names(verdict.able), here);
        std::vector<std::string> command{"stapgen", verdict.able.size() == 1 ? verdict.able[0] : "RECIPE"};
        if (question.module) command.insert(command.begin() + 1, "exec");
        if (!question.to_load) {
            const auto& release = target.release_option.empty() ? target.release : target.release_option;
            command.insert(command.begin() + 1, "build");
            command.insert(command.end(), {"-r", release, "-o", "FILE.ko"});
        }
        if (!question.symbols.empty()) command.insert(command.end(), {"--symbols", question.symbols});
        verdict.first = base::shell_printable(base::shell_quoted(command));
        return verdict;
    }
    verdict.what = fmt::format("{} will not {}", names(verdict.unable), here);
    if (!verdict.able.empty()) verdict.what += fmt::format("; {} will", names(verdict.able));
    const auto remedy = remedy_text(first->remedy, target.distribution);
    if (is_platform_note(*first)) {
        verdict.first = fmt::format("{}: {}", first->found, remedy);
        return verdict;
    }
    verdict.first = fmt::format("start with {}: {}", first->id, remedy.empty() ? first->found : remedy);
    if (could_load && first->blocks != Blocks::loading) {
        verdict.first += "; a module built elsewhere (stapgen build) would run here: stapgen exec";
    }
    return verdict;
}

std::string_view state_name(State state) {
    static constexpr std::array names{"ok", "workaround", "note", "missing"};
    return names[static_cast<std::size_t>(state)];
}

base::Ink ink_of(State state) {
    constexpr std::array inks{base::Ink::good, base::Ink::good, base::Ink::warning, base::Ink::bad};
    return inks[static_cast<std::size_t>(state)];
}

std::string rows_text(const std::vector<Check>& checks, host::Distribution distribution, const base::Screen& screen) {
    const auto width = screen.width > 0 ? std::min(screen.width, base::default_width) : base::default_width;
    std::size_t first = 0, second = 0;
    for (const auto& check : checks) {
        first = std::max(first, check.id.size());
        second = std::max(second, state_name(check.state).size());
    }
    const auto indent = first + second + 2;
    std::string text;
    for (const auto& check : checks) {
        const auto name = fmt::format("{:{}}", state_name(check.state), second);
        const auto begin = screen.width > 0 ? indent_of(check.found, indent, width) : indent;
        text += fmt::format(
            "{:{}} {} {}{}\n", check.id, first, screen.colours ? base::painted(name, ink_of(check.state)) : name,
            begin == indent ? "" : '\n' + std::string(begin, ' '), base::wrapped(check.found, width, begin, begin));
        text += remedy_lines(check.remedy, distribution, width, screen);
    }
    return text;
}

std::string explanation_of(const host::System& machine, const Question& question, std::string_view ids) {
    return ids.empty() ? "" : below_hint(not_ok(examine(machine, question), ids), question.target.distribution);
}

base::Result<void> able(const std::vector<Check>& checks, const Subject& subject, host::Distribution distribution) {
    auto in_the_way = checks;
    std::erase_if(in_the_way, [&](const Check& check) { return !blocks(check, subject); });
    if (in_the_way.empty()) return {};
    std::ranges::copy_if(checks, std::inserter(in_the_way, in_the_way.begin()), is_platform_note);
    const auto first = in_the_way.front();
    in_the_way.erase(in_the_way.begin());
    return base::cannot_here(first.found,
                             remedy_text(first.remedy, distribution) + below_hint(in_the_way, distribution));
}

}  // namespace stapgen::doctor
