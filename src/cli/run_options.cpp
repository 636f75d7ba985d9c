#include "cli/run_options.h"

#include <fmt/format.h>

#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <iostream>

#include "base/units.h"
#include "cli/doing.h"

namespace stapgen::cli {

void add_make_options(CLI::App& command, MakeOptions& options) {
    command.add_option("-r,--release", options.release, "For this kernel release (default: the running kernel)")
        ->type_name("RELEASE");
    command
        .add_option("--symbols", options.symbols,
                    "System.map or saved /proc/kallsyms of that kernel (may be .gz, .xz, .zst)")
        ->type_name("FILE");
    command.add_option("--stap", options.stap, "Which stap")->envname("STAPGEN_STAP")->type_name("PATH");
    add_debuginfo(command, options.debuginfo);
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
    add_dry_run(command, options.dry_run);
}

void add_dry_run(CLI::App& command, bool& dry_run) {
    command.add_flag("--dry-run", dry_run, "Print what exactly would be done and do nothing");
}

void add_debuginfo(CLI::App& command, std::string& debuginfo) {
    command
        .add_option("--debuginfo", debuginfo,
                    "The kernel's DWARF: auto (where nothing else will do), never, or require (wherever it helps)")
        ->check(CLI::IsMember({"auto", "never", "require"}))
        ->type_name("MODE");
}

void add_parameters(CLI::App& command, const recipe::Recipe& recipe, recipe::Arguments& arguments) {
    const auto group = "Parameters of " + recipe.name;
    for (const auto& parameter : recipe.parameters) {
        const auto set = [&arguments, name = parameter.name](const std::string& value) { arguments[name] = value; };
        if (parameter.is_flag()) {
            command
                .add_flag_function(
                    "--" + parameter.name, [set](std::int64_t count) { set(count > 0 ? "true" : "false"); },
                    parameter.help)
                ->group(group);
            continue;
        }
        const auto choices = parameter.choices.empty() ? "" : fmt::format("{}: ", fmt::join(parameter.choices, ", "));
        command
            .add_option_function<std::string>(
                "--" + parameter.name, set,
                fmt::format("{}{} (default {})", choices, parameter.help, parameter.default_value))
            ->group(group);
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

void add_measure_options(CLI::App& command, MeasureOptions& options) {
    command.add_option("-d,--duration", options.duration, "Stop after this time (10, 250ms, 1m)")->type_name("TIME");
    command.add_option("-n,--count", options.count, "Stop after so many intervals")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    auto* output = command
                       .add_option("-o,--output", options.output,
                                   "Keep all lines of the measurement in this new file, to be read again")
                       ->type_name("FILE");
    command
        .add_option("--rotate", options.rotation, "Begin a further file (FILE.1, ...) at this size; keep the newest N")
        ->needs(output)
        ->type_name("SIZE[,N]");
    add_present_options(command, options.present);
    command.add_flag("-q,--quiet", options.quiet, "No progress and no hints on stderr");
    command
        .add_flag("--live{always},--no-live{never}", options.live,
                  "Show the measurement on the terminal as it goes on; ? there tells the keys (default: auto, on a "
                  "terminal where the report is a table; --no-live: only the report)")
        ->type_name("[WHEN]")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    command.add_option("--color", options.color, "In the live view: auto (default; not with $NO_COLOR), always, never")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->type_name("WHEN");
}

void add_load_options(CLI::App& command, MeasureOptions& options) {
    command.add_option("-s,--buffer", options.buffer_mb, "Kernel buffer per CPU in MB (staprun's -b)")
        ->check(CLI::Range(1, 4095))
        ->type_name("MB");
    command.add_flag("-v,--verbose", options.verbose, "What stap says, on stderr");
}

void add_events(CLI::App& command, MeasureOptions& options) {
    command.add_flag("--events", options.events, "Print each record as it comes, then the report");
}

namespace {

base::Result<bool> wants_live(const MeasureOptions& options, const MeasurePlan& plan) {
    if (options.live == "never") return false;
    const bool is_alone = plan.presentation.format == Format::table && !plan.events && !plan.quiet && !plan.verbose;
    const bool must = options.live == "always";
    if (!is_alone) {
        if (!must) return false;
        return base::bad_input("--live and --events, --format, -q or -v: two things for one terminal",
                               "leave one of them out; -o FILE keeps the measurement, to be read in any format");
    }
    const auto usable = live::Terminal::usable();
    if (usable) return true;
    if (must) return tl::make_unexpected(usable.error());
    // A pipe is as good a place for a report as a terminal; a terminal that nobody knows is a surprise.
    if (usable.error().kind == base::ErrorKind::cannot_here) show_error(usable.error());
    return false;
}

live::Colours colours_of(const std::string& word) {
    if (word == "always") return live::Colours::always;
    return word == "never" ? live::Colours::never : live::Colours::automatic;
}

}  // namespace

base::Result<MeasurePlan> plan_of(const MeasureOptions& options) {
    MeasurePlan plan;
    auto filters = filters_of(options.filters);
    if (!filters) return tl::make_unexpected(filters.error());
    plan.filters = *std::move(filters);
    if (!options.duration.empty()) {
        auto duration = base::parse_duration(options.duration);
        if (!duration) return tl::make_unexpected(duration.error());
        plan.duration = *duration;
    }
    auto presentation = presentation_of(options.present);
    if (!presentation) return tl::make_unexpected(presentation.error());
    plan.presentation = *std::move(presentation);
    plan.presentation.intervals_shown = true;
    plan.intervals = options.count;
    plan.events = options.events;
    if (plan.events && !shows_intervals(plan.presentation.format)) {
        return base::bad_input("--events and this --format: one document cannot be printed record by record",
                               "--format ndjson prints a line for each record, and the report as the last one");
    }
    if (options.output == "-") {
        return base::bad_input("--output -: stdout has the report already",
                               "name a file; 'stapgen report FILE' reads it, 'zstd -dc FILE' shows its text");
    }
    if (options.output) plan.output = *options.output;
    if (options.rotation) {
        auto rotation = recording::parse_rotation(*options.rotation);
        if (!rotation) return tl::make_unexpected(rotation.error());
        plan.rotation = *rotation;
    }
    plan.buffer_mb = options.buffer_mb;
    plan.quiet = options.quiet;
    plan.verbose = options.verbose;
    const auto is_live = wants_live(options, plan);
    if (!is_live) return tl::make_unexpected(is_live.error());
    plan.live = *is_live;
    plan.colours = colours_of(options.color);
    if (!plan.quiet) {
        for (const auto& hint : plan.filters.hints)
            std::cerr << "stapgen: " << hint << '\n';
    }
    return plan;
}

}  // namespace stapgen::cli
