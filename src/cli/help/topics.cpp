// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "analyze/account_names.h"
#include "base/text.h"
#include "cli/help/help.h"
#include "kinds/drops/advice.h"
#include "kinds/latency/waits.h"
#include "launch/messages.h"
#include "show/model/table.h"

namespace stapgen::cli {

namespace {

using kinds::drops::DropAdvice;
using launch::MessageKind;

constexpr int passes = 5;

base::Error nothing_found(std::string_view topic, const std::string& wanted, std::string hint) {
    return base::Error{base::ErrorKind::bad_input,
                       fmt::format("{}: nothing is known of '{}'", topic, base::printable(wanted)), std::move(hint)};
}

bool contains(const launch::Diagnosis& message, std::string_view wanted) {
    const auto text = base::upper(fmt::format("{}\n{}\n{}", message.line, message.cause, message.remedy));
    return text.find(base::upper(wanted)) != std::string::npos;
}

/// As below a report's drops, with the mark of its tables.
std::string drop_text(const DropAdvice& drop) {
    const auto subject =
        drop.function.empty() ? std::string(drop.reason) : fmt::format("{} in {}", drop.reason, drop.function);
    const auto mark = drop.benign ? fmt::format(" {}", show::benign_mark) : "";
    return base::wrapped(fmt::format("{}{}: {}", subject, mark, drop.text), base::default_width, 2) + '\n';
}

/// Those whose reason or place fits; where none has this very name, those that contain it.
std::vector<DropAdvice> drops_like(const std::string& wanted) {
    std::vector<DropAdvice> found;
    for (const auto& pattern : {base::upper(wanted), '*' + base::upper(wanted) + '*'}) {
        std::ranges::copy_if(kinds::drops::known_drops(), std::back_inserter(found), [&](const DropAdvice& drop) {
            return base::match(pattern, drop.reason) || base::match(pattern, base::upper(drop.function));
        });
        if (!found.empty()) break;
    }
    return found;
}

base::Result<std::string> drop_reasons(const std::vector<std::string>& words) {
    if (words.size() > 1) return base::bad_input("drop-reasons: one name or pattern only", "quote it: '*CSUM*'");
    std::string wanted = words.empty() ? "*" : words.front();
    // As the kernel's source has them.
    constexpr std::string_view prefix = "SKB_DROP_REASON_";
    if (base::upper(wanted).starts_with(prefix)) wanted.erase(0, prefix.size());
    const auto drops = drops_like(wanted);
    if (drops.empty()) {
        std::vector<std::string> names;
        for (const auto& drop : kinds::drops::known_drops())
            names.emplace_back(drop.reason);
        return tl::make_unexpected(nothing_found(
            "drop-reasons", words.front(),
            base::meant_hint(base::upper(words.front()), names, "'stapgen help drop-reasons' lists the reasons")));
    }
    std::string out;
    for (const auto& drop : drops)
        out += drop_text(drop);
    if (std::ranges::any_of(drops, &DropAdvice::benign)) out += fmt::format("\n{}\n", show::benign_legend);
    if (words.empty()) {
        out += '\n' +
               base::wrapped(
                   "Counters are spelled as by nstat, settings as by sysctl; DEV and ADDRESS are yours. In "
                   "a place NOT_SPECIFIED also stands for drops without a reason (kernels before 5.17).",
                   base::default_width) +
               '\n';
    }
    return out;
}

std::string_view after_effect(MessageKind kind) {
    switch (kind) {
        case MessageKind::warning:
            return " (warning)";
        case MessageKind::loss:
            return " (loss)";
        default:
            return "";
    }
}

std::string message_text(const launch::Diagnosis& message) {
    const auto remedy = message.remedy.empty() ? "" : "; " + message.remedy;
    return fmt::format("{}{}\n  {}\n", message.line, after_effect(message.kind),
                       base::wrapped(message.cause + remedy, base::default_width, 2, 2));
}

base::Result<std::string> stap_failures(const std::vector<std::string>& words) {
    const launch::MessageContext context{"RELEASE", "", ""};
    const auto wanted = fmt::format("{}", fmt::join(words, " "));
    if (const auto message = launch::diagnose(wanted, context)) return message_text(*message);
    std::string out;
    for (int pass = 0; pass <= passes; ++pass) {
        std::string rows;
        for (const auto& row : launch::message_table()) {
            if (row.pass != pass) continue;
            const auto message = launch::described(row, context);
            if (contains(message, wanted)) rows += message_text(message);
        }
        const auto heading = pass == 0 ? "In any pass" : fmt::format("Pass {}, {}", pass, launch::pass_name(pass));
        if (!rows.empty()) out += fmt::format("{}{}:\n{}", out.empty() ? "" : "\n", heading, rows);
    }
    if (out.empty()) {
        return tl::make_unexpected(
            nothing_found("stap-failures", wanted, "name less of the message; 'stapgen help stap-failures' has all"));
    }
    if (words.empty()) {
        out += '\n' +
               base::wrapped(
                   "'...', X, Y and Z differ. After a warning or a loss the run goes on; a loss is data that "
                   "is missing from the result. RELEASE is the kernel's.",
                   base::default_width) +
               '\n';
    }
    return out;
}

/// A stage ("qdisc"), a part ("tcp-app.run-queue"), its cause alone, or the beginning of a name up to its dot.
bool is_asked_for(const kinds::latency::Wait& wait, std::string_view wanted) {
    return wanted.empty() || wanted == wait.cause || std::ranges::any_of(wait.names(), [&](const std::string& name) {
               return name == wanted || name.starts_with(std::string(wanted) + '.');
           });
}

std::string wait_text(const kinds::latency::Wait& wait) {
    std::string text;
    const auto line = [&](std::string_view begin, std::string_view rest, std::size_t indent) {
        text += base::wrapped(fmt::format("{} {}", begin, rest), base::default_width, indent, indent - 2) + '\n';
    };
    line(fmt::format("{}: waited", fmt::join(wait.names(), ", ")), wait.what, 2);
    for (const auto& [begin, rest] : {std::pair("known:", wait.known), std::pair("remedy:", wait.remedy)}) {
        text += "  ";
        line(begin, rest, 4);
    }
    return text;
}

base::Result<std::string> waits(const std::vector<std::string>& words) {
    if (words.size() > 1) return base::bad_input("waits: one name only", "stapgen help waits");
    const auto wanted = words.empty() ? std::string() : words.front();
    std::string out;
    for (const auto& wait : kinds::latency::known_waits()) {
        if (is_asked_for(wait, wanted)) out += wait_text(wait);
    }
    if (out.empty()) {
        std::vector<std::string> names;
        for (const auto& wait : kinds::latency::known_waits()) {
            std::ranges::move(wait.names(), std::back_inserter(names));
            names.emplace_back(wait.cause);
        }
        return tl::make_unexpected(
            nothing_found("waits", wanted, base::meant_hint(wanted, names, "'stapgen help waits' has all")));
    }
    if (words.empty()) {
        out += '\n' +
               base::wrapped(
                   "The parts of a stage add up to it, to the nanosecond. Counters are spelled as by nstat, settings "
                   "as by sysctl; functions and fields are the kernel's.",
                   base::default_width) +
               '\n';
    }
    return out;
}

base::Result<std::string> exit_codes(const std::vector<std::string>& words) {
    if (!words.empty()) return base::bad_input("exit-codes: it takes no further words", "stapgen help exit-codes");
    std::string out;
    for (const auto& code : base::exit_codes)
        out += base::wrapped(fmt::format("{} {}", code.number, exit_code_text(code)), base::default_width, 2) + '\n';
    return out;
}

base::Result<std::string> account(const CommandSpec& root, const std::vector<std::string>& words) {
    const auto wanted = words.empty() ? std::string() : words.front();
    std::string out;
    const auto add = [&](std::string_view name, std::string_view of, std::string_view meaning) {
        if (name.find(wanted) == std::string_view::npos) return;
        out += base::wrapped(fmt::format("{} ({}): {}", name, of, meaning), base::default_width, 2) + '\n';
    };
    for (const auto& [name, of, meaning] : analyze::account_names())
        add(name, of, meaning);
    for (const auto& command : root.commands) {
        if (command.recipe == nullptr) continue;
        for (const auto& [name, help] : command.recipe->account)
            add(name, command.name, help);
    }
    if (out.empty()) return tl::make_unexpected(nothing_found("account", wanted, "stapgen help account"));
    if (words.empty()) out += "\ndocs/trust/what-is-measured.md: which kinds of traffic are followed\n";
    return out;
}

/// The topics that need no recipe.
template <base::Result<std::string> (*text)(const std::vector<std::string>& words)>
base::Result<std::string> of_words(const CommandSpec& /*root*/, const std::vector<std::string>& words) {
    return text(words);
}

constexpr std::array topics{
    Topic{"account", "What each count of a report's last line means", account},
    Topic{"drop-reasons", "What each drop reason means, and where to look", of_words<drop_reasons>},
    Topic{"results", "The tables of a report, their columns and how these add up", of_words<results_text>},
    Topic{"stap-failures", "Messages of stap and staprun: cause and remedy", of_words<stap_failures>},
    Topic{"waits", "What packets wait for: how it is known, and what to do about it", of_words<waits>},
    Topic{"exit-codes", "What stapgen ends with, and which command does", of_words<exit_codes>},
};

}  // namespace

std::span<const Topic> help_topics() {
    return topics;
}

std::string exit_code_text(const base::ExitCode& code) {
    return code.commands == "all" ? std::string(code.meaning) : fmt::format("({}) {}", code.commands, code.meaning);
}

}  // namespace stapgen::cli
