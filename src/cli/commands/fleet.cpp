// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <utility>

#include "base/files.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/keeping.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "fleet/hosts.h"
#include "fleet/results.h"
#include "fleet/run.h"
#include "host/facts.h"
#include "launch/module_file.h"
#include "module/make.h"
#include "session/keeper.h"

namespace stapgen::cli {

namespace {

/// Whether a program that begins so needs no loader, and so none of the target's libraries.
bool is_static(const std::string& program) {
    if (program.size() < sizeof(Elf64_Ehdr)) return false;
    Elf64_Ehdr header;
    std::memcpy(&header, program.data(), sizeof(header));
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
    for (int i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        const auto at = header.e_phoff + i * sizeof(segment);
        if (at + sizeof(segment) > program.size()) return false;
        std::memcpy(&segment, program.data() + at, sizeof(segment));
        if (segment.p_type == PT_INTERP) return false;
    }
    return true;
}

/// A program's content; empty: it is not static.
base::Result<std::string> static_program(const std::filesystem::path& file) {
    constexpr std::size_t heads = 4096;
    auto beginning = base::read_file(file, heads);
    if (!beginning) return beginning;
    return is_static(*beginning) ? base::read_file(file) : std::string();
}

/// The stapgen that hosts get, by architecture: those typed, and this one for what none is typed for.
base::Result<std::map<std::string, std::string>> programs_of(const std::vector<std::string>& typed) {
    std::map<std::string, std::string> programs;
    for (const auto& file : typed) {
        STAPGEN_LET(auto content, static_program(file));
        if (content.empty()) {
            return base::bad_input(fmt::format("--program {}: not a statically linked program", file),
                                   "hosts may lack its libraries: cmake --preset static builds one");
        }
        const auto architecture = host::elf_machine(file);
        if (!programs.emplace(architecture, std::move(content)).second) {
            return base::bad_input(fmt::format("--program {}: the second one for {}", file, architecture),
                                   "give one for each architecture of the hosts");
        }
    }
    const auto own = host::own_program();
    const auto architecture = host::elf_machine(own);
    if (programs.contains(architecture)) return programs;
    STAPGEN_LET(auto content, static_program(own));
    if (!content.empty()) programs.emplace(architecture, std::move(content));
    return programs;
}

/// Makes the module for a kernel of the hosts on this machine, or takes the one that is ready.
base::Result<std::filesystem::path> module_for(const fleet::HostFacts& kernel, const Call& call,
                                               const host::System& machine, const FleetRunOptions& options,
                                               module::MakeOptions make) {
    for (const auto& file : options.modules) {
        STAPGEN_LET(const auto info, launch::read_module_info(file));
        if (info.release == kernel.release && info.architecture == kernel.architecture)
            return std::filesystem::path(file);
    }
    make.release = kernel.release;
    STAPGEN_LET(auto preparation,
                module::prepare(call.program, machine, *call.command.recipe, make, module::Purpose::run_elsewhere));
    // A release need not name the architecture: Ubuntu's 6.8.0-31-generic.
    if (const auto& target = preparation.job.target; target.architecture != kernel.architecture) {
        return base::cannot_here(
            fmt::format("the headers here are for {}, the host is {}", target.architecture, kernel.architecture));
    }
    return module::compile(machine, preparation, true, false);
}

/// As it is typed.
std::string size_text(std::uint64_t bytes) {
    return fmt::format("{:.3f}kB", static_cast<double>(bytes) / 1000);
}

std::string time_text(std::chrono::nanoseconds time) {
    constexpr std::int64_t second = 1'000'000'000;
    return time.count() % second == 0 ? fmt::format("{}s", time.count() / second) : fmt::format("{}ns", time.count());
}

/// The recipe's own options.
std::vector<std::string> script_arguments(const module::MakeOptions& make) {
    std::vector<std::string> argv;
    for (const auto& [name, value] : make.arguments) {
        if (value.empty()) argv.insert(argv.end(), {"--" + name, value});
        if (!value.empty()) argv.push_back(fmt::format("--{}={}", name, value));
    }
    if (make.interval) argv.push_back(fmt::format("--interval={}ms", make.interval->count()));
    return argv;
}

/// As passed to a host that compiles.
std::vector<std::string> build_arguments(const module::MakeOptions& make) {
    auto argv = script_arguments(make);
    if (make.aggregate) argv.push_back("--aggregate");
    if (make.keep) argv.push_back("--keep-memory=" + size_text(*make.keep));
    if (make.guru) argv.push_back("--guru");
    argv.push_back("--debuginfo=" + make.debuginfo);
    return argv;
}

/// What is kept comes within the recording: a host's own files are nobody's here.
std::vector<std::string> keeping_arguments(const session::KeepPlan& keep) {
    std::vector<std::string> argv{"--keep",      time_text(keep.before),
                                  "--after",     time_text(keep.after),
                                  "--keep-in=-", "--keep-memory=" + size_text(keep.memory)};
    for (const auto& condition : keep.conditions)
        argv.insert(argv.end(), {"--when", condition.text()});
    return argv;
}

/// As passed to a host that measures.
std::vector<std::string> measuring_arguments(const FleetRunOptions& options, const module::MakeOptions& make,
                                             bool has_module) {
    if (!has_module) return script_arguments(make);
    std::vector<std::string> argv;
    for (const auto& [option, value] : options.filters)
        argv.insert(argv.end(), {"--" + option, value});
    if (options.buffer_mb) argv.insert(argv.end(), {"--buffer", fmt::format("{}MiB", *options.buffer_mb)});
    return argv;
}

/// A module as hosts get it. One that the user gave and that has a signature keeps it.
base::Result<std::string> signed_content(const host::System& machine, const module::Signer& signer,
                                         const std::string& module, const module::Asked& asked) {
    STAPGEN_LET(const auto folder, base::PrivateDirectory::create());
    const auto file = folder.path() / "module.ko";
    STAPGEN_TRY(base::create_file(file, module));
    STAPGEN_LET(const auto info, launch::read_module_info(file));
    if (info.is_signed) return module;
    STAPGEN_LET(const auto argv,
                module::signing_argv(machine, host::inspect(machine, {"stap", asked.release, ""}), signer));
    STAPGEN_LET(const auto made, module::sign(argv, file, asked, module::Name::at_random, folder.path()));
    return base::read_file(made);
}

/// A line for each moment at which hosts kept the seconds before; the rest on stderr.
void print_kept(const fleet::Job& job, const fleet::Outcome& outcome) {
    for (const auto& moment : outcome.moments) {
        const auto folder = job.folder / moment.folder;
        const auto hosts = base::entries_of(folder).size();
        if (hosts == 0) continue;
        std::cout << fmt::format("kept at {}: {} host{}, {}\n", moment.text, hosts, hosts == 1 ? "" : "s",
                                 folder.string());
    }
    for (const auto& row : outcome.rows) {
        if (row.kept_files && !row.kept_files->why.empty())
            base::print_message(fmt::format("{}: of what it kept: {}", row.host, row.kept_files->why));
    }
    if (outcome.unkept > 0) {
        base::print_message(
            fmt::format("conditions held {} more times, which were not kept: at most one moment is in {} s and "
                        "--after, and no more "
                        "than --keep-most",
                        outcome.unkept, session::kept_at_most_every.count()));
    }
}

base::Result<void> fleet_run(const Call& call, const FleetRunOptions& options) {
    const auto& recipe = *call.command.recipe;
    const auto machine = launch::this_machine();
    const auto& typed = options.hosts;
    std::error_code ignored;
    if (typed.find('/') == std::string::npos && std::filesystem::is_regular_file(typed, ignored)) {
        const auto name = base::printable(typed);
        base::print_message(fmt::format("{} is taken for a host; the file of that name is --hosts ./{}", name, name));
    }
    STAPGEN_LET(auto hosts, fleet::parse_hosts(typed));
    auto checkable = options.filters;
    // Names in these are of the hosts.
    for (const auto* option : {"container", "pod", "cgroup", "netns"})
        checkable.erase(option);
    STAPGEN_TRY(session::filters_of(*machine, checkable, true));
    session::MeasurePlan plan;
    plan.duration = options.duration;
    plan.quiet = options.quiet;
    auto make = options.make;
    STAPGEN_LET(plan.keep, keep_plan_of(options.keep));
    if (plan.keep) {
        STAPGEN_TRY(use_keeping(recipe, make, *plan.keep));
        plan.keep->memory = make.keep.value_or(plan.keep->memory);
    }
    STAPGEN_LET(const auto aggregation, session::aggregation_of(recipe, make.aggregate, plan));
    make.aggregate = aggregation.in_kernel;
    STAPGEN_LET(auto sent, programs_of(options.programs));

    fleet::Job job;
    job.hosts = std::move(hosts);
    job.ssh = {options.ssh, options.ssh_options, options.sudo};
    if (options.connect_timeout)
        job.ssh.connect_timeout = std::chrono::ceil<std::chrono::milliseconds>(*options.connect_timeout);
    for (const auto& host : options.compile_on) {
        if (std::ranges::find(job.hosts, host) != job.hosts.end()) continue;
        return base::bad_input(fmt::format("--compile-on {}: not one of the hosts", base::printable(host)),
                               "name it in --hosts, too");
    }
    job.compile_on = options.compile_on;
    job.folder = options.output;
    job.recipe = recipe.name;
    job.has_module = recipe.source == recipe::Source::script;
    job.build = build_arguments(make);
    job.duration = *options.duration;
    job.measure = measuring_arguments(options, make, job.has_module);
    if (plan.keep) {
        const auto keeping = keeping_arguments(*plan.keep);
        job.measure.insert(job.measure.end(), keeping.begin(), keeping.end());
        job.keep = plan.keep;
    }
    job.batch = static_cast<std::size_t>(options.batch.value_or(0));
    job.programs = std::move(sent);
    job.quiet = options.quiet;
    job.compile = [&](const fleet::HostFacts& kernel) { return module_for(kernel, call, *machine, options, make); };
    if (const auto signer = std::exchange(make.sign, std::nullopt)) {
        STAPGEN_TRY(module::signing_argv(*machine, host::inspect(*machine, {}), *signer));
        STAPGEN_LET(const auto complete, recipe::complete_arguments(recipe, make.arguments));
        const auto hash = recipe::hash_of(recipe, complete);
        STAPGEN_TRY(hash);
        job.sign = [&machine, signer, hash = *hash](const std::string& module, const fleet::HostFacts& kernel) {
            return signed_content(*machine, *signer, module, {kernel.release, kernel.architecture, hash});
        };
    }
    if (make.dry_run) {
        base::print_comment(job.has_module
                                ? "inspects each host, compiles for each kernel, copies the module there; then"
                                : "inspects each host; then");
        for (const auto& line : fleet::commands_of(job))
            base::print_command(line);
        return {};
    }
    STAPGEN_LET(const auto outcome, fleet::run(job));
    const auto& rows = outcome.rows;
    std::cout << fleet::table_text(rows, base::screen_of(STDOUT_FILENO));
    print_kept(job, outcome);
    const auto failed = static_cast<std::size_t>(
        std::ranges::count_if(rows, [](const fleet::Row& row) { return row.refusal.has_value(); }));
    if (failed == 0) return {};
    const auto what = fmt::format("{} of {} hosts did not complete", failed, rows.size());
    auto hint = fmt::format("{} has the reasons", base::shell_quoted({(job.folder / fleet::index_file).string()}));
    if (std::ranges::any_of(base::entries_of(job.folder), [](const auto& file) { return file.extension() == ".rec"; }))
        hint += fmt::format("; what was recorded: stapgen report {}/*.rec", base::shell_quoted({job.folder.string()}));
    if (failed == rows.size()) return base::failed(what, hint);
    return tl::make_unexpected(base::Error{base::ErrorKind::partial, what, hint});
}

}  // namespace

CommandSpec fleet_run_command(const recipe::Recipe& recipe) {
    using recipe::Filter;
    CommandSpec command{"stapgen fleet run", recipe.name, recipe.summary};
    auto& options = add_values<FleetRunOptions>(command, fleet_run);
    command.recipe = &recipe;
    command.examples = {fmt::format("stapgen fleet run {} --hosts web1,web2 -d 60 -o monday", recipe.name)};
    auto filters = filter_options(recipe.filters, options.filters);
    // A thread's number is of one host.
    std::erase_if(filters, [](const OptionSpec& spec) { return long_name(spec).starts_with("--target-"); });
    for (auto& spec : filters)
        spec.rules.excludes.clear();
    const auto duration = [](const std::string& typed) { return base::parse_duration(typed); };
    const bool has_module = recipe.source == recipe::Source::script;
    const OptionSpecs of_modules{
        {"--ready-made", "FILE.ko", groups::compiling, "A module made by 'stapgen build', for its kernel",
         "one per kernel; modules for other kernels are compiled", &options.modules},
        {"--compile-on", "HOST", groups::compiling, "Let this host compile for all hosts of its kernel",
         "if this machine cannot; they load what it sends, so it is trusted with all of them", &options.compile_on},
        {"-s,--buffer", "SIZE", groups::running, "The kernel's buffer per CPU, 1MiB to 4095MiB", "",
         read_by(parse_buffer, options.buffer_mb)}};
    command.options = joined({
        {option("--hosts", "HOSTS", groups::hosts, "Hosts: H1,H2,... or ./FILE with one per line",
                "any name that ssh takes", &options.hosts, {.required = true}),
         option("--batch", "N", groups::hosts, "Measure on at most N hosts at a time", "default: all at once",
                &options.batch, {.range = Range{1}}),
         {"--sudo", "", groups::hosts, "Use 'sudo -n', if ssh does not log in as root", "", &options.sudo},
         {"--program", "FILE", groups::hosts, "The stapgen to copy to the hosts of its architecture",
          "statically linked; default: this one if it is static, else the host's own", &options.programs},
         option("--ssh", "PROGRAM", groups::hosts, "Which ssh", "", &options.ssh, {}),
         option("--connect-timeout", "TIME", groups::hosts, "Give up a host that does not answer within this time", "",
                read_by(duration, options.connect_timeout), {.default_value = "30s"}),
         {"--ssh-option", "OPTION", groups::hosts, "Pass to ssh's -o, for example StrictHostKeyChecking=no", "",
          &options.ssh_options},
         option("-d,--duration", "TIME", groups::time, "Stop after this time", "",
                read_by(parse_measured_time, options.duration), {.required = true}),
         option("-o,--output", "DIR", groups::output, "A new folder for the recordings, one per host",
                "HOST.rec each, and fleet.json with the state of each host", &options.output, {.required = true})},
        filters,
        script_options(recipe, options.make),
        keep_options(options.keep, !recipe.record.keeps, true),
        has_module ? make_options(recipe, options.make) : dry_run_option(options.make.dry_run),
        has_module ? of_modules : OptionSpecs{},
        quiet_option(options.quiet),
    });
    std::erase_if(command.options, [](const OptionSpec& spec) {
        const auto name = long_name(spec);
        return name == "--release" || name == "--symbols";
    });
    return command;
}

CommandSpec fleet_command(const recipe::Catalog& catalog) {
    CommandSpec run{"stapgen fleet", "run", "Measure on many hosts at once, over ssh"};
    run.notes =
        "Compiles once per kernel and tries the module on one host of each kernel first. Hosts need\nstaprun and "
        "stapio; for softnet, which needs no module, they need neither. Ctrl-C ends all of them cleanly. A host has "
        "the time of --connect-timeout to\nanswer, again to get "
        "ready, "
        "and twice that beyond the duration to end.\nExit code 5: some hosts did not complete; their rows have the "
        "reasons.\nOptions of a recipe: 'stapgen help fleet run rx-latency'.\n";
    run.examples = {"stapgen fleet run rx-latency --hosts web1,web2 -d 60 -o monday"};
    for (const auto& recipe : catalog.recipes)
        run.commands.push_back(fleet_run_command(recipe));
    CommandSpec fleet{"stapgen", "fleet", "Measure on many hosts"};
    fleet.examples = run.examples;
    fleet.commands = {std::move(run), fleet_report_command(), fleet_compare_command(), fleet_why_command()};
    for (std::size_t i = 1; i < fleet.commands.size(); ++i)
        fleet.examples.push_back(fleet.commands[i].examples.front());
    return fleet;
}

}  // namespace stapgen::cli
