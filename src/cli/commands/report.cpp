#include <iostream>

#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "report/presentation.h"
#include "session/replay.h"
#include "session/summary_facts.h"

namespace stapgen::cli {

namespace {

base::Result<void> report(const Call& call) {
    const auto& [program, root, command, options] = call;
    auto presentation = presentation_of(options.present);
    if (!presentation) return tl::make_unexpected(presentation.error());
    auto reports = session::load({options.words.begin(), options.words.end()}, *presentation, options.names);
    if (!reports) return tl::make_unexpected(reports.error());
    for (auto& summary : *reports)
        session::put_meanings(summary, program.catalog);
    report::present(std::cout, *reports, *presentation);
    return {};
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
        "ssh host cat /tmp/drops.txt | stapgen report -",
        "stapgen report before.txt after.txt",
        "stapgen report drops.txt --map System.map-6.1.0-56-amd64 --map vmlinuz-6.1.0-56-amd64",
    };
    command.options = joined({
        {option("file", "FILE", groups::arguments, "Recordings, or the output of other tools",
                "- is stdin; zstd, gzip, xz and bzip2 are unpacked", &options.words, {.required = true})},
        present_options(options.present, true),
        name_options(options.names),
    });
    return command;
}

}  // namespace stapgen::cli
