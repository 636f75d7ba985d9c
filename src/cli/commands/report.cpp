// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "cli/commands/archives.h"
#include "cli/commands/commands.h"
#include "cli/commands/new_file.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "session/measured_facts.h"
#include "session/presentation.h"
#include "session/replay.h"
#include "when/condition.h"

namespace stapgen::cli {

namespace {

/// A folder stands for the files in it; nothing for what comes through a pipe.
base::Result<std::vector<std::filesystem::path>> files_of(const std::vector<std::string>& typed) {
    if (typed.empty() && ::isatty(STDIN_FILENO) == 1)
        return base::bad_input("FILE... is missing", "'stapgen report --help' shows what there is");
    if (typed.empty()) return std::vector<std::filesystem::path>{"-"};
    return files_at(typed);
}

base::Result<void> report(const Call& call, const ReportOptions& options) {
    STAPGEN_LET(auto presentation, presentation_of(options.present));
    if (auto can = check_events(options.replay.events, presentation); !can) return can;
    STAPGEN_LET(const auto archives, archives_among(options.files));
    STAPGEN_LET(const auto files, archives.empty() ? files_of(options.files) : archives);
    STAPGEN_LET(auto output, NewFile::open(options.output));
    if (!archives.empty()) {
        if (auto done = report_archives(call, archives, options, presentation); !done) return done;
        return output.keep();
    }
    auto replay = options.replay;
    for (const auto& typed : options.conditions) {
        STAPGEN_LET(auto condition, when::parse_condition(typed));
        replay.when.push_back(std::move(condition));
    }
    std::optional<bundle::LogText> log;
    if (files.size() == 1 && files.front() == "-") {
        log = log_of_stdin(call);
        replay.unknown = [&log](std::string_view lines) { log->feed(lines); };
    }
    auto reports = session::load(files, presentation, options.names, replay);
    if (!reports) {
        if (reports.error().hint != session::unknown_format_hint) return tl::make_unexpected(reports.error());
        if (!log) {
            STAPGEN_LET(const bool are_logs, report_logs(call, options.files, options, presentation));
            return are_logs ? output.keep() : tl::make_unexpected(reports.error());
        }
        if (log->evidence().log_lines == 0) return tl::make_unexpected(reports.error());
        STAPGEN_TRY(report_log(call, *log, options));
        return output.keep();
    }
    for (auto& summary : *reports)
        session::put_meanings(summary, call.program.catalog);
    session::present(std::cout, *reports, presentation);
    return output.keep();
}

}  // namespace

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
    const auto thread = [](std::string_view typed) -> base::Result<std::int64_t> {
        const auto number = base::to_int(typed);
        if (number && *number >= 1) return *number;
        return base::bad_input(fmt::format("'{}' is not the number of a thread or process", base::printable(typed)));
    };
    const auto name = [](std::string_view typed) -> base::Result<std::string> { return std::string(typed); };
    return {
        {"--port", "N", group, "Only records with this port, local or remote", "", by("--port", port, selection.port)},
        {"--addr", "ADDRESS[/PREFIX]", group, "Only records with an address like this, local or remote", "",
         by("--addr", filter::parse_network, selection.address)},
        {"--since", "MOMENT", group, "Only records from this moment on", "",
         by("--since", session::parse_moment, selection.since)},
        {"--until", "MOMENT", group, "Only records before this moment", "",
         by("--until", session::parse_moment, selection.until)},
        {"--comm", "COMM", groups::more_output, "Only records of threads of this name", "",
         by("--comm", name, selection.comm)},
        {"-p,--target-pid", "PID", groups::more_output, "Only records of this process", "",
         by("--target-pid", thread, selection.pid)},
        {"-x,--target-tid", "TID", groups::more_output, "Only records of this thread", "",
         by("--target-tid", thread, selection.tid)},
    };
}

CommandSpec report_command() {
    CommandSpec command{"stapgen", "report", "Report recordings and the output of other tools"};
    auto& options = add_values<ReportOptions>(command, report);
    command.notes =
        "Reads, also mixed with prompts and other lines:\n"
        "  recordings of stapgen (-o FILE), and the output of its modules\n"
        "  the RHEL stage-timing script (|I| drv-ip: 23 us, ...), the memcached tracker (rx=... count=...)\n"
        "  dropwatch.stp of any generation, dropwatch(1)\n"
        "  perf script, perf trace and ftrace lines of skb:kfree_skb and net:*, perf script netdev-times\n"
        "  drops in the output of pwru, nettrace, tcpdrop, bpftrace (@[kstack]: N), cilium monitor, Prometheus\n"
        "    (kfree_skb_total)\n"
        "  counters: rises between two samples, totals of one: nstat and ip -s link (also -j), netstat -s and -i,\n"
        "    ifconfig, sar -n EDEV and DEV, ip -s neigh, ethtool -S, tc -s qdisc and class, conntrack -S, ss -ti, -m\n"
        "    and -u, tcpdump's last lines, files of /proc/net and /sys/class/net, a diff of two\n"
        "  support archives, and folders of one (sosreport, must-gather, a tar of logs): what in them points to\n"
        "    lost or late packets; of two archives of one host, what rose\n"
        "Adds up several files of one recipe, of one host or of many; each is read by a core of its own.\n";
    command.examples = {
        "stapgen report slow.rec",
        "stapgen report --by port --format json web1.rec web2.rec",
        "stapgen report slow.rec --format perfetto > trace.pftrace",
        "stapgen report --by host web*.rec",
        "stapgen report slow.rec --port 443 --since 14:05 --until 14:10",
        "stapgen report slow.rec --format html -o slow.html",
        "ssh host cat /tmp/drops.txt | stapgen report",
        "stapgen report before.txt after.txt",
        "stapgen report sosreport-web1.tar.xz",
        "stapgen report drops.txt --map System.map-6.1.0-56-amd64",
    };
    command.options = joined({
        {option("file", "FILE", groups::arguments, "Recordings, or the output of other tools",
                "or folders with them; - or none is stdin; zstd, gzip, xz and bzip2 are unpacked", &options.files, {})},
        selection_options(options.replay.selection),
        {{"--events", "", groups::output, "Print each record, then the report", "", &options.replay.events},
         {"--when", "CONDITION", groups::output, "Say when a condition held, as 'tcp-app p99 > 5ms over 1s'",
          "SUBJECT pNN|max|rise > VALUE [over TIME]; may be repeated", &options.conditions},
         new_file_option(options.output),
         {"-q,--quiet", "", groups::running, "Only the answer, the stages, and what is missing",
          "groups only with --by", &options.present.shown.quiet}},
        present_options(options.present, true),
        name_options(options.names),
    });
    return command;
}

}  // namespace stapgen::cli
