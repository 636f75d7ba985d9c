// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "report/presentation.h"
#include "session/replay.h"
#include "session/summary_facts.h"

namespace stapgen::cli {

namespace {

/// stdout goes into a new file, for its owner only.
base::Result<void> write_into(const std::filesystem::path& path) {
    const base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.get() >= 0 && ::dup2(file.get(), STDOUT_FILENO) >= 0) return {};
    const auto why = std::error_code(errno, std::generic_category()).message();
    return base::bad_input(fmt::format("-o: cannot create {}: {}", base::printable(path.string()), why),
                           "name a file that is not there yet");
}

/// A folder stands for the files in it; nothing for what comes through a pipe.
base::Result<std::vector<std::filesystem::path>> files_of(const std::vector<std::string>& typed) {
    if (typed.empty() && ::isatty(STDIN_FILENO) == 1)
        return base::bad_input("FILE... is missing", "'stapgen report --help' shows what there is");
    if (typed.empty()) return std::vector<std::filesystem::path>{"-"};
    std::vector<std::filesystem::path> files;
    for (const auto& word : typed) {
        auto more = files_at(word);
        if (!more) return more;
        std::ranges::move(*more, std::back_inserter(files));
    }
    return files;
}

base::Result<void> report(const Call& call) {
    const auto& [program, root, command, options] = call;
    auto presentation = presentation_of(options.present);
    if (!presentation) return tl::make_unexpected(presentation.error());
    if (auto can = check_events(options.replay.events, *presentation); !can) return can;
    const auto files = files_of(options.words);
    if (!files) return tl::make_unexpected(files.error());
    if (options.output) {
        if (auto opened = write_into(*options.output); !opened) return opened;
    }
    auto reports = session::load(*files, *presentation, options.names, options.replay);
    if (!reports) {
        std::error_code ignored;
        if (options.output) std::filesystem::remove(*options.output, ignored);
        return tl::make_unexpected(reports.error());
    }
    for (auto& summary : *reports)
        session::put_meanings(summary, program.catalog);
    report::present(std::cout, *reports, *presentation);
    return {};
}

OptionSpecs selection_options(session::Selection& selection) {
    const auto* group = groups::filters;
    const auto by = [&selection](const std::string& name, auto parse, auto& to) -> Reader {
        return [&selection, name, read = read_by(parse, to, false)](const std::string& typed) -> base::Result<void> {
            if (auto done = read(typed); !done) {
                auto error = done.error();
                error.what = fmt::format("{}: {}", name, error.what);
                return tl::make_unexpected(error);
            }
            selection.options += fmt::format("{}{} {}", selection.options.empty() ? "" : " ", name, typed);
            return {};
        };
    };
    const auto port = [](std::string_view typed) -> base::Result<std::int64_t> {
        const auto number = base::to_int(typed);
        if (number && *number >= 1 && *number <= 65535) return *number;
        return base::bad_input(fmt::format("'{}' is not a port", base::printable(typed)), "1 to 65535");
    };
    return {
        {"--port", "N", group, "Only records with this port, local or remote", "", by("--port", port, selection.port)},
        {"--addr", "ADDRESS[/PREFIX]", group, "Only records with an address like this, local or remote", "",
         by("--addr", filter::parse_network, selection.address)},
        {"--since", "MOMENT", group, "Only records from this moment on", "",
         by("--since", session::parse_moment, selection.since)},
        {"--until", "MOMENT", group, "Only records before this moment", "",
         by("--until", session::parse_moment, selection.until)},
    };
}

}  // namespace

CommandSpec report_command(Options& options) {
    CommandSpec command{report, "stapgen", "report", "Report recordings and the output of other tools"};
    command.notes =
        "Reads, also mixed with prompts and other lines:\n"
        "  recordings of stapgen (-o FILE), and the output of its modules\n"
        "  the RHEL stage-timing script (|I| drv-ip: 23 us, ...), the memcached tracker (rx=... count=...)\n"
        "  dropwatch.stp of any generation, dropwatch(1)\n"
        "  perf script, perf trace and ftrace lines of skb:kfree_skb and net:*, perf script netdev-times\n"
        "  drops in the output of pwru, bcc's tcpdrop and bpftrace (@[kstack]: N)\n"
        "  counters of nstat, netstat -s, ip -s link, ifconfig, ethtool -S, /proc/net: rises between two samples\n"
        "Adds up several files of one recipe, of one host or of many.\nUses up to 8 cores for large files; with one "
        "(taskset -c 0) the report is the same, byte for byte.\n";
    command.examples = {
        "stapgen report slow.rec",
        "stapgen report --by port --format json web1.rec web2.rec",
        "stapgen report slow.rec --format perfetto > trace.pftrace",
        "stapgen report --by host web*.rec",
        "stapgen report slow.rec --port 443 --since 14:05 --until 14:10",
        "stapgen report slow.rec --format html -o slow.html",
        "ssh host cat /tmp/drops.txt | stapgen report",
        "stapgen report before.txt after.txt",
        "stapgen report drops.txt --map System.map-6.1.0-56-amd64 --map vmlinuz-6.1.0-56-amd64",
    };
    command.options = joined({
        {option("file", "FILE", groups::arguments, "Recordings, or the output of other tools",
                "or folders with them; - or none is stdin; zstd, gzip, xz and bzip2 are unpacked", &options.words, {})},
        selection_options(options.replay.selection),
        {{"--events", "", groups::output, "Print each record, then the report", "", &options.replay.events},
         {"-o,--output", "FILE", groups::output, "Write into this new file", "", &options.output},
         {"-q,--quiet", "", groups::running, "Only the answer, the stages, and what is missing",
          "groups only with --by", &options.present.shown.quiet}},
        present_options(options.present, true),
        name_options(options.names),
    });
    return command;
}

}  // namespace stapgen::cli
