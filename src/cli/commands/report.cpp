#include <iostream>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/options/name_options.h"
#include "session/meanings.h"
#include "session/replay.h"

namespace stapgen::cli {

namespace {

struct ReportOptions {
    std::vector<std::string> files;
    PresentOptions present;
    NameOptions names;
};

base::Result<void> report(const recipe::Program& program, const ReportOptions& options) {
    auto presentation = presentation_of(options.present);
    if (!presentation) return tl::make_unexpected(presentation.error());
    const auto names = sources_of(options.names);
    if (!names) return tl::make_unexpected(names.error());
    auto reports = session::load({options.files.begin(), options.files.end()}, *presentation, *names);
    if (!reports) return tl::make_unexpected(reports.error());
    for (auto& summary : *reports)
        session::put_meanings(summary, program.catalog);
    report::present(std::cout, *reports, *presentation);
    return {};
}

}  // namespace

void add_report_command(CLI::App& app, const recipe::Program& program, Action& action) {
    auto options = std::make_shared<ReportOptions>();
    auto* command = app.add_subcommand("report", "Reports from files: recordings, and what other tools print");
    command
        ->add_option("file", options->files,
                     "Recordings, or what other tools print; - is stdin. Also packed: zstd, gzip, xz, bzip2")
        ->required()
        ->type_name("FILE");
    add_present_options(*command, options->present, true);
    add_name_options(*command, options->names);
    command->footer(
        "What is read, also mixed with prompts and other lines:\n"
        "  recordings of stapgen (-o FILE), and the lines its modules print\n"
        "  the RHEL stage-timing script (|I| drv-ip: 23 us, ...), the memcached tracker (rx=... count=...)\n"
        "  dropwatch.stp of any generation, dropwatch(1)\n"
        "  perf script, perf trace and ftrace lines of skb:kfree_skb and net:*, perf script netdev-times\n"
        "  drops in what pwru, bcc's tcpdrop and bpftrace (@[kstack]: N) print\n"
        "  counters of nstat, netstat -s, ip -s link, ifconfig, ethtool -S, /proc/net: what rose between two samples\n"
        "Several files of one recipe, of one host or of many, are added up.\n"
        "Examples:\n"
        "  stapgen report slow.rec\n"
        "  stapgen report --by port --format json web1.rec web2.rec\n"
        "  stapgen report slow.rec --format perfetto > trace.pftrace\n"
        "  stapgen report --by host web*.rec\n"
        "  ssh host cat /tmp/drops.txt | stapgen report -\n"
        "  stapgen report before.txt after.txt\n"
        "  stapgen report drops.txt --map System.map-6.1.0-56-amd64 --map vmlinuz-6.1.0-56-amd64");
    command->callback(
        [&program, &action, options] { action = [&program, options] { return report(program, *options); }; });
}

}  // namespace stapgen::cli
