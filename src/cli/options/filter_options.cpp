#include "cli/options/filter_options.h"

#include <CLI/Option.hpp>
#include <string>

#include "cli/options/option_groups.h"

namespace stapgen::cli {

using recipe::Filter;

void add_filter_options(CLI::App& command, const std::set<Filter>& filters, session::FilterOptions& options) {
    const std::string group = groups::filters;
    if (filters.contains(Filter::thread)) {
        auto* tid =
            command.add_option("-x,--target-tid", options.target_tid, "Only what this thread does")->type_name("TID");
        auto* pid =
            command.add_option("-p,--target-pid", options.target_pid, "Only what this process does")->type_name("PID");
        auto* comm = command.add_option("--comm", options.comm, "Only what threads of this name do, later ones too")
                         ->type_name("COMM");
        for (auto* option : {tid, pid, comm})
            option->group(group);
        tid->excludes(pid)->excludes(comm);
        pid->excludes(comm);
    }
    if (filters.contains(Filter::port)) {
        command.add_option("--port", options.port, "Only connections with this port, local or remote")
            ->check(CLI::Range(1, 65535))
            ->type_name("N")
            ->group(group);
    }
    if (filters.contains(Filter::address)) {
        command.add_option("--addr", options.address, "Only connections with an address like this, local or remote")
            ->type_name("ADDRESS[/PREFIX]")
            ->group(group);
    }
    if (filters.contains(Filter::device)) {
        command.add_option("--dev", options.device, "Only what this network device receives or sends")
            ->type_name("DEV")
            ->group(group);
    }
    if (filters.contains(Filter::mark)) {
        command.add_option("--mark", options.mark, "Only packets with this mark (nft 'meta mark set', SO_MARK)")
            ->type_name("MARK[/MASK]")
            ->group(group);
    }
    if (filters.contains(Filter::port)) {
        command
            .add_option("--sample", options.sample,
                        "Only one in N sockets, chosen by a hash of its ends; N is a power of two")
            ->check(CLI::Range(1, static_cast<int>(session::largest_sample)))
            ->type_name("N")
            ->group(group);
    }
}

}  // namespace stapgen::cli
