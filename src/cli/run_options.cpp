#include "cli/run_options.h"

#include <fmt/format.h>

#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "cli/threads.h"

namespace stapgen::cli {

void add_make_options(CLI::App& command, MakeOptions& options) {
    command.add_option("-r,--release", options.release, "For this kernel release (default: the running kernel)")
        ->type_name("RELEASE");
    command
        .add_option("--symbols", options.symbols,
                    "System.map or saved /proc/kallsyms of that kernel (may be .gz, .xz, .zst)")
        ->type_name("FILE");
    command.add_option("--stap", options.stap, "Which stap")->envname("STAPGEN_STAP")->type_name("PATH");
    command.add_flag("--all-modules", options.all_modules, "Let stap put names to addresses of all modules");
    command.add_option("--module", options.modules, "The same for one module (stap's -d); repeatable")
        ->type_name("NAME")
        ->allow_extra_args(false);
    command.add_option("--stap-option", options.stap_options, "Hand this to stap as it is; repeatable")
        ->type_name("OPT")
        ->allow_extra_args(false);
    command.add_option("--no-cure", options.without_cures, "Leave out the cure of this name, or 'all'; repeatable")
        ->type_name("NAME")
        ->allow_extra_args(false);
    command.add_flag("--dry-run", options.dry_run, "Print the exact commands and run nothing");
}

void add_parameters(CLI::App& command, const recipe::Recipe& recipe, recipe::Arguments& arguments) {
    for (const auto& parameter : recipe.parameters) {
        command
            .add_option_function<std::string>(
                "--" + parameter.name,
                [&arguments, name = parameter.name](const std::string& value) { arguments[name] = value; },
                fmt::format("{} (default {})", parameter.help, parameter.default_value))
            ->group("Parameters of " + recipe.name);
    }
}

void add_interval(CLI::App& command, std::string& interval) {
    command.add_option("-i,--interval", interval, "Report every so often (5, 250ms, 1m)")->type_name("TIME");
}

base::Result<std::chrono::milliseconds> interval_of(const std::string& typed, const recipe::Recipe& recipe) {
    using namespace std::chrono;
    if (typed.empty()) return seconds(recipe.interval_s.value_or(0));
    auto interval = base::parse_duration(typed);
    if (!interval) return tl::make_unexpected(interval.error());
    const auto rounded = duration_cast<milliseconds>(*interval);
    if (rounded != *interval || rounded < milliseconds(10) || rounded > hours(24)) {
        return base::bad_input(fmt::format("--interval {}: not between 10ms and 24h in whole milliseconds", typed),
                               "for example --interval 5 or --interval 250ms");
    }
    return rounded;
}

void add_target_options(CLI::App& command, MeasureOptions& options) {
    auto* tid =
        command.add_option("-x,--target-tid", options.target_tid, "Only what this thread does")->type_name("TID");
    auto* pid =
        command.add_option("-p,--target-pid", options.target_pid, "Only what this process does")->type_name("PID");
    auto* comm = command.add_option("--comm", options.comm, "Only the thread of this name")->type_name("NAME");
    tid->excludes(pid)->excludes(comm);
    pid->excludes(comm);
}

bool knows_thread(const recipe::Recipe& recipe) {
    const auto& fields = recipe.record.fields;
    return std::find(fields.begin(), fields.end(), "tid:int") != fields.end();
}

void add_measure_options(CLI::App& command, MeasureOptions& options) {
    command.add_option("-d,--duration", options.duration, "Stop after this time (10, 250ms, 1m)")->type_name("TIME");
    command.add_option("-n,--count", options.count, "Stop after so many intervals")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    command.add_option("-P,--percentiles", options.percentiles, "Which percentiles (default 50,90,99,99.9)")
        ->type_name("LIST");
    auto* format = command.add_option("--format", options.format, "table or json")
                       ->check(CLI::IsMember({"table", "json"}))
                       ->type_name("FORMAT");
    command.add_flag("-j,--json", options.json, "The same as --format json")->excludes(format);
    command.add_option("-s,--buffer", options.buffer_mb, "Kernel buffer per CPU in MB (staprun's -b)")
        ->check(CLI::Range(1, 4095))
        ->type_name("MB");
    command.add_flag("-q,--quiet", options.quiet, "No progress and no hints on stderr");
    command.add_flag("-v,--verbose", options.verbose, "What stap says, on stderr");
}

namespace {

base::Result<void> find_target(const MeasureOptions& options, MeasurePlan& plan) {
    if (const auto target = options.target_tid ? options.target_tid : options.target_pid) {
        auto thread = thread_of(*target);
        if (!thread) return tl::make_unexpected(thread.error());
        plan.target = target;
        plan.target_is_process = options.target_pid.has_value();
        if (plan.target_is_process && thread->pid != *target) {
            return base::bad_input(
                fmt::format("{} is a thread of process {}", *target, thread->pid),
                fmt::format("give -x {} for the thread or -p {} for the process", *target, thread->pid));
        }
    }
    if (options.comm.empty()) return {};
    const auto threads = threads_named(options.comm);
    if (threads.empty()) {
        return base::bad_input(fmt::format("there is no thread named '{}'", base::printable(options.comm)),
                               "'ps -eLo pid,tid,comm' lists the threads");
    }
    if (threads.size() > 1) {
        std::string tids;
        for (const auto& thread : threads)
            tids += fmt::format(" {}", thread.tid);
        return base::bad_input(
            fmt::format("{} threads are named '{}':{}", threads.size(), base::printable(options.comm), tids),
            fmt::format("choose one with -x, or all of a process with -p {}", threads.front().pid));
    }
    plan.target = threads.front().tid;
    return {};
}

}  // namespace

base::Result<MeasurePlan> plan_of(const MeasureOptions& options) {
    MeasurePlan plan;
    if (auto found = find_target(options, plan); !found) return tl::make_unexpected(found.error());
    if (!options.duration.empty()) {
        auto duration = base::parse_duration(options.duration);
        if (!duration) return tl::make_unexpected(duration.error());
        plan.duration = *duration;
    }
    plan.percentiles = analyze::default_percentiles();
    if (!options.percentiles.empty()) {
        auto percentiles = analyze::parse_percentiles(options.percentiles);
        if (!percentiles) return tl::make_unexpected(percentiles.error());
        plan.percentiles = *percentiles;
    }
    plan.intervals = options.count;
    plan.format = options.json || options.format == "json" ? Format::json : Format::table;
    plan.buffer_mb = options.buffer_mb;
    plan.quiet = options.quiet;
    plan.verbose = options.verbose;
    return plan;
}

}  // namespace stapgen::cli
