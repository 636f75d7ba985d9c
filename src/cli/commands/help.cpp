// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/help/help.h"

#include <fmt/format.h>

#include <iostream>

#include "cli/commands/commands.h"

namespace stapgen::cli {

namespace {

base::Result<void> print_help(const Call& call, const HelpOptions& options) {
    return help_of(call.root, options.words, help_width()).map([](const std::string& text) { std::cout << text; });
}

base::Result<void> man(const Call& call, const ManOptions& options) {
    return write_manual(call.root, call.program, options.folder);
}

base::Result<void> complete(const Call&) {
    return base::bad_input("complete: no -- given", "stapgen complete -- WORD... is for shells");
}

}  // namespace

CommandSpec help_command() {
    CommandSpec command{"stapgen", "help", "Show a command's options, drop reasons, or stap's messages"};
    auto& options = add_values<HelpOptions>(command, print_help);
    command.examples = {"stapgen help rx-latency", "stapgen help build rx-latency",
                        "stapgen help drop-reasons NO_SOCKET", "stapgen help stap-failures 'no match'"};
    for (const auto& topic : help_topics())
        command.notes += fmt::format("  stapgen help {}: {}\n", topic.name, topic.summary);
    command.notes +=
        "Behind drop-reasons a name, a part of it or a pattern chooses from them, behind\n"
        "stap-failures a message or a part of it.\n";
    command.options = {{"command", "COMMAND", groups::arguments, "A recipe, a command, or one of the topics below", "",
                        &options.words}};
    return command;
}

CommandSpec man_command() {
    CommandSpec command{"stapgen", "man", "Write the manual pages"};
    auto& options = add_values<ManOptions>(command, man);
    command.hidden = true;
    command.options = {option("folder", "DIR", groups::arguments, "Where to", "", &options.folder, {.required = true}),
                       {"--installed", "", groups::hidden, "Without your own recipes", "", &options.installed}};
    return command;
}

CommandSpec complete_command() {
    CommandSpec command{"stapgen", "complete", "Print completion candidates"};
    command.action = complete;
    command.hidden = true;
    return command;
}

}  // namespace stapgen::cli
