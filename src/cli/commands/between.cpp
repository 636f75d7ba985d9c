// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/terminal.h"
#include "base/text.h"
#include "between/capture.h"
#include "between/collect.h"
#include "between/joined_recording.h"
#include "between/page.h"
#include "between/text.h"
#include "between/trace.h"
#include "cli/commands/answer.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "recording/reader.h"
#include "session/replay.h"

namespace stapgen::cli {

namespace {

/// A recording, or the parts of one.
base::Result<between::Host> read_host(const std::vector<std::filesystem::path>& files,
                                      const session::Presentation& presentation) {
    const auto stem = base::printable(files.front().stem().string());
    between::Host host{.name = stem, .file = stem};
    between::Collector collector(host);
    session::ReplayOptions options;
    options.records = &collector;
    STAPGEN_LET(const auto runs, session::load_runs(files, presentation, {}, options));
    for (const auto& run : runs)
        for (const auto& measured : run.reports)
            for (const auto* causes : {&measured.accounting.incomplete, &measured.accounting.lost})
                std::ranges::copy(*causes, std::back_inserter(host.not_measured));
    std::erase_if(host.not_measured, [](const recording::Cause& cause) { return cause.count == 0; });
    for (const auto& said : collector.end())
        base::print_message(said);
    if (collector.has_several()) {
        return base::bad_input(
            fmt::format("{} has recordings of several hosts", base::printable(files.front().string())),
            "give each host's recording by itself");
    }
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

base::Result<between::JoinedRecording> create_joined(const BetweenOptions& options) {
    if (options.output == "-") {
        return base::bad_input("--output -: stdout is for the answer",
                               "name a file; 'stapgen report FILE' reads it, 'zstd -dc FILE' shows its text");
    }
    std::vector<std::string> command{"stapgen", "between"};
    if (options.port) command.insert(command.end(), {"--port", fmt::to_string(*options.port)});
    return between::JoinedRecording::create(*options.output, std::move(command));
}

base::Result<void> find_between(const Call& /*call*/, const BetweenOptions& options) {
    STAPGEN_LET(auto presentation, presentation_of(options.present));
    presentation.by.emplace();                             // no groups
    presentation.format = session::Presentation().format;  // of what is read there is no report
    std::vector<between::Host> hosts;
    STAPGEN_LET(const auto files, files_at(options.files));
    STAPGEN_LET(const auto runs, recording::runs_of(files));
    std::optional<between::JoinedRecording> joined;
    if (options.output) {
        STAPGEN_LET(joined, create_joined(options));
    }
    for (const auto& run : runs) {
        const auto& file = run.files.front();
        STAPGEN_LET(auto host, between::is_capture(file)
                                   ? between::read_capture(file, static_cast<std::uint16_t>(options.port.value_or(0)))
                                   : read_host(run.files, presentation));
        if (host.client.ends.empty() && host.server.ends.empty() && host.capture.ends.empty()) {
            if (!host.not_measured.empty()) {
                return base::bad_input(
                    fmt::format("{}: none of its requests was measured: {} {}", base::printable(file.string()),
                                base::with_commas(host.not_measured.front().count),
                                base::printable(host.not_measured.front().name)),
                    "'stapgen report' says what that is");
            }
            return base::bad_input(fmt::format("{} has no requests of one end", base::printable(file.string())),
                                   "record them with 'stapgen both-ends --port N' on both hosts at once, or capture "
                                   "both directions with tcpdump");
        }
        hosts.push_back(std::move(host));
    }
    add_file_names(hosts);
    between::Trace trace(std::cout);
    const bool is_trace = options.present.format == "perfetto";
    if (joined) joined->set_hosts(hosts);
    between::EachRequest each;
    if (joined || is_trace) {
        each = [&](const auto& result, const auto& request) {
            if (joined) joined->add(result, request);
            if (is_trace) trace.request(result, request);
        };
    }
    const auto answer = between::between(hosts, each);
    if (is_trace) {
        for (const auto& missing : trace.end(answer))
            base::print_message(missing);
    } else {
        write_answer(options.present.format, answer, [&] {
            between::write_text(std::cout, answer, base::screen_of(STDOUT_FILENO, presentation.colours));
        });
    }
    if (!answer.results.empty()) return joined ? joined->end(answer) : base::Result<void>();
    return tl::make_unexpected(base::Error{base::ErrorKind::no_result, "no request was found at both ends",
                                           "record both hosts at the same time, and the right port"});
}

}  // namespace

CommandSpec between_command() {
    CommandSpec command{"stapgen", "between", "Where requests wait: at client, server, or between the hosts"};
    auto& options = add_values<BetweenOptions>(command, find_between);
    command.notes =
        "Joins recordings of the recipe both-ends that were made at the same time: by the sequence numbers of\n"
        "request and reply, which NAT and tunnels keep. No clock need be set. Either end, or both, may be a\n"
        "capture of packets (pcap, pcapng) instead, of tcpdump at that host. docs/guide/both-ends.md\n";
    command.examples = {"stapgen between app1.rec db1.rec", "stapgen between pair", "stapgen between app1.rec db1.pcap",
                        "stapgen between pair --format html > pair.html", "stapgen between pair -o joined.rec"};
    command.options = joined(
        {{option("recording", "FILE", groups::arguments, "Recordings of both-ends, captures, or folders with them", "",
                 &options.files, {.required = true}),
          {"-o,--output", "FILE", groups::output, "Keep the joined requests in this new file",
           "a recording, for report, why, compare, export", &options.output},
          option("--port", "N", groups::filters, "The server's port, in captures", "default: the lower one",
                 &options.port, {.range = Range{1, 65535}})},
         format_options(options.present.format, {"table", "json", "csv", "html", "perfetto"},
                        "html: one self-contained page; perfetto: a trace for ui.perfetto.dev")});
    return command;
}

}  // namespace stapgen::cli
