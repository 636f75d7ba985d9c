// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <iostream>
#include <map>

#include "base/terminal.h"
#include "base/text.h"
#include "between/collect.h"
#include "between/text.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "session/replay.h"

namespace stapgen::cli {

namespace {

base::Result<between::Host> read_host(const std::filesystem::path& file, const session::Presentation& presentation) {
    const auto stem = base::printable(file.stem().string());
    between::Host host{.name = stem, .file = stem};
    between::Collector collector(host);
    session::ReplayOptions options;
    options.records = &collector;
    STAPGEN_TRY(session::load_runs({file}, presentation, {}, options));
    for (const auto& said : collector.end())
        base::print_message(said);
    return host;
}

/// Those of one name have their files', too.
void add_file_names(std::vector<between::Host>& hosts) {
    std::map<std::string, int> times;
    for (const auto& host : hosts)
        ++times[host.name];
    for (auto& host : hosts)
        if (times[host.name] > 1) host.name = fmt::format("{} ({})", host.name, host.file);
}

base::Result<void> find_between(const Call& /*call*/, const BetweenOptions& options) {
    STAPGEN_LET(auto presentation, presentation_of(options.present));
    presentation.by.emplace();  // no groups
    std::vector<between::Host> hosts;
    for (const auto& word : options.files) {
        STAPGEN_LET(const auto files, files_at(word));
        for (const auto& file : files) {
            STAPGEN_LET(auto host, read_host(file, presentation));
            if (host.client.ends.empty() && host.server.ends.empty()) {
                return base::bad_input(fmt::format("{} has no requests of one end", base::printable(file.string())),
                                       "record them with 'stapgen both-ends --port N' on both hosts at once");
            }
            hosts.push_back(std::move(host));
        }
    }
    add_file_names(hosts);
    const auto answer = between::between(hosts);
    if (options.present.format == "json") {
        between::write_json(std::cout, answer);
    } else if (options.present.format == "csv") {
        between::write_csv(std::cout, answer);
    } else {
        between::write_text(std::cout, answer, base::screen_of(STDOUT_FILENO, presentation.colours));
    }
    if (!answer.results.empty()) return {};
    return tl::make_unexpected(base::Error{base::ErrorKind::no_result, "no request was found at both ends",
                                           "record both hosts at the same time, and the right port"});
}

}  // namespace

CommandSpec between_command() {
    CommandSpec command{"stapgen", "between", "Where requests wait: at client, server, or between the hosts"};
    auto& options = add_values<BetweenOptions>(command, find_between);
    command.notes =
        "Joins recordings of the recipe both-ends that were made at the same time: by the sequence numbers of\n"
        "request and reply, which NAT and tunnels keep. No clock need be set. docs/guide/both-ends.md\n";
    command.examples = {"stapgen between app1.rec db1.rec", "stapgen between pair"};
    command.options =
        joined({{option("recording", "FILE", groups::arguments, "Recordings of both-ends, or folders with them", "",
                        &options.files, {.required = true})},
                format_options(options.present.format, {"table", "json", "csv"}, "")});
    return command;
}

}  // namespace stapgen::cli
