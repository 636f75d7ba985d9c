#include "cli/options/run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <algorithm>

#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options/option_groups.h"
#include "host/system.h"
#include "launch/stap_command.h"

namespace stapgen::cli {

void add_target_options(CLI::App& command, module::MakeOptions& options) {
    command.add_option("-r,--release", options.release, "For this kernel; without it, the running one")
        ->type_name("RELEASE")
        ->group(groups::compiling);
    command
        .add_option("--symbols", options.symbols,
                    "System.map or saved /proc/kallsyms of that kernel; may be .gz, .xz or .zst")
        ->type_name("FILE")
        ->group(groups::compiling);
    command.add_option("--stap", options.stap, "Which stap")
        ->envname("STAPGEN_STAP")
        ->capture_default_str()
        ->type_name("PATH")
        ->group(groups::compiling);
    add_debuginfo(command, options.debuginfo);
}

void add_no_workaround(CLI::App& command, module::MakeOptions& options) {
    command.add_option("--no-cure", options.without_workarounds, "Leave out this cure")
        ->type_name("CURE")
        ->allow_extra_args(false)
        ->group(groups::compiling);
}

void add_make_options(CLI::App& command, module::MakeOptions& options) {
    add_target_options(command, options);
    command.add_flag("--all-modules", options.all_modules, "Let stap put names to addresses of all modules")
        ->group(groups::compiling);
    command.add_option("--module", options.modules, "The same for one module; stap's -d")
        ->type_name("MODULE")
        ->allow_extra_args(false)
        ->group(groups::compiling);
    command.add_option("--stap-option", options.stap_options, "Hand this to stap as it is")
        ->type_name("OPTION")
        ->allow_extra_args(false)
        ->group(groups::compiling);
    add_no_workaround(command, options);
    add_cost(command, options);
    add_dry_run(command, options.dry_run);
}

void add_dry_run(CLI::App& command, bool& dry_run) {
    command.add_flag("--dry-run", dry_run, "Print what exactly would be done and do nothing")->group(groups::running);
}

void add_cost(CLI::App& command, module::MakeOptions& options) {
    command
        .add_flag("--cost", options.cost,
                  "Measure what the probes cost, hit by hit, which costs a little itself; stap's -t")
        ->group(groups::compiling);
    command
        .add_option("--budget", options.budget,
                    "No CPU's time beyond this for the probes; a run samples sockets where more is expected, and ends "
                    "where it is more")
        ->type_name("PERCENT")
        ->group(groups::compiling);
}

void add_guru(CLI::App& command, const recipe::Recipe& recipe, bool& guru) {
    if (!recipe.guru) return;
    command
        .add_flag("--guru", guru, "Agree to the C in this recipe's script: it runs in the kernel, unchecked; stap's -g")
        ->group(groups::compiling);
}

void add_debuginfo(CLI::App& command, std::string& debuginfo) {
    command
        .add_option("--debuginfo", debuginfo,
                    "Use the kernel's DWARF; auto: where nothing else will do, require: wherever it helps")
        ->check(CLI::IsMember({"auto", "never", "require"}))
        ->capture_default_str()
        ->type_name("MODE")
        ->group(groups::compiling);
}

namespace {

std::string word_of_value(const recipe::Parameter& parameter) {
    switch (parameter.type) {
        case recipe::ParameterType::integer:
            return "N";
        case recipe::ParameterType::boolean:
            return "BOOL:{true,false}";
        case recipe::ParameterType::text:
            return parameter.choices.empty() ? "TEXT" : fmt::format("WORD:{{{}}}", fmt::join(parameter.choices, ","));
        case recipe::ParameterType::duration:
            return "DURATION";
        case recipe::ParameterType::functions:
            return "FUNC[,...]";
    }
    return {};
}

}  // namespace

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
        command.add_option_function<std::string>("--" + parameter.name, set, parameter.help)
            ->default_str(parameter.default_value)
            ->type_name(word_of_value(parameter))
            ->group(group);
    }
}

void add_interval(CLI::App& command, const recipe::Recipe& recipe, std::string& interval) {
    command.add_option("-i,--interval", interval, "Report every so often, as 5, 250ms or 1m")
        ->default_str(recipe.interval_s ? fmt::to_string(*recipe.interval_s) : "")
        ->type_name("TIME")
        ->group(groups::time);
}

void add_measure_options(CLI::App& command, MeasureOptions& options) {
    command.add_option("-d,--duration", options.duration, "Stop after this time")
        ->type_name("TIME")
        ->group(groups::time);
    command.add_option("-n,--count", options.count, "Stop after so many intervals")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group(groups::time);
    auto* output = command
                       .add_option("-o,--output", options.output,
                                   "Keep all lines in this new file; 'stapgen report' reads it again")
                       ->type_name("FILE")
                       ->group(groups::output);
    add_present_options(command, options.present);
    command
        .add_option("--rotate", options.rotation, "Begin a further file (FILE.1, ...) at this size; keep the newest N")
        ->needs(output)
        ->type_name("SIZE[,N]")
        ->group(groups::more_output);
    command
        .add_flag(
            "--live{always},--no-live{never}", options.live,
            "Show the measurement while it goes on; auto: on a terminal, where the report is a table; ? tells the keys")
        ->type_name("WHEN")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->group(groups::more_output);
    command.add_option("--color", options.color, "Colours of the live view; auto: not with $NO_COLOR")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str()
        ->type_name("WHEN")
        ->group(groups::more_output);
    add_quiet(command, options.quiet);
}

void add_aggregate(CLI::App& command, const recipe::Recipe& recipe, bool& aggregate) {
    if (!recipe.record.aggregates) return;
    command
        .add_flag(
            "--aggregate", aggregate,
            "Aggregate in the kernel: the same percentiles, no groups, and little output however many packets; the "
            "default of a run of 60 s or more (-d) that asks for neither --events nor --by")
        ->group(groups::output);
}

void add_quiet(CLI::App& command, bool& quiet) {
    command.add_flag("-q,--quiet", quiet, "No progress and no hints on stderr")->group(groups::running);
}

void add_verbose(CLI::App& command, bool& verbose) {
    command.add_flag("-v,--verbose", verbose, "What stap says, on stderr")->group(groups::running);
}

void add_load_options(CLI::App& command, MeasureOptions& options) {
    command
        .add_option("-s,--buffer", options.buffer,
                    "The kernel's buffer per CPU, 1MiB to 4095MiB; staprun's -b, where MiB need no unit")
        ->type_name("SIZE")
        ->group(groups::running);
    add_verbose(command, options.verbose);
}

void add_events(CLI::App& command, MeasureOptions& options) {
    command.add_flag("--events", options.events, "Print each record as it comes, then the report")
        ->group(groups::output);
}

namespace {

/// staprun takes whole MiB, which it calls MB.
base::Result<std::int64_t> buffer_mib_of(const std::string& typed) {
    constexpr std::uint64_t mib = 1U << 20U;
    auto bytes = base::parse_size(typed);
    if (!bytes) {
        bytes.error().what.insert(0, "--buffer: ");
        return tl::make_unexpected(bytes.error());
    }
    const auto whole = (*bytes + mib - 1) / mib;
    if (*bytes < mib || whole > 4095) {
        return base::bad_input(fmt::format("--buffer {}: not between 1MiB and 4095MiB", typed),
                               "for example --buffer 64MiB");
    }
    return static_cast<std::int64_t>(whole);
}

base::Result<bool> wants_live(const MeasureOptions& options, const session::MeasurePlan& plan) {
    if (options.live == "never") return false;
    const bool is_alone =
        plan.presentation.format == &report::formats().front() && !plan.events && !plan.quiet && !plan.verbose;
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
    if (usable.error().kind == base::ErrorKind::cannot_here) base::show_error(usable.error());
    return false;
}

live::Colours colours_of(const std::string& word) {
    if (word == "always") return live::Colours::always;
    return word == "never" ? live::Colours::never : live::Colours::automatic;
}

}  // namespace

base::Result<session::MeasurePlan> plan_of(const MeasureOptions& options, bool dry_run) {
    session::MeasurePlan plan;
    auto filters = session::filters_of(*host::real_system(), options.filters, dry_run);
    if (!filters) return tl::make_unexpected(filters.error());
    plan.filters = *std::move(filters);
    if (!options.duration.empty()) {
        auto duration = base::parse_duration(options.duration);
        if (!duration) return tl::make_unexpected(duration.error());
        plan.duration = *duration;
    }
    auto presentation = presentation_of(options.present);
    if (!presentation) return tl::make_unexpected(presentation.error());
    if (!presentation->by_origin.empty()) {
        return base::bad_input(
            fmt::format("--by {}: a measurement is one recording of one host", presentation->by_origin.front()),
            "keep several with -o FILE; 'stapgen report --by' groups them so");
    }
    plan.presentation = *std::move(presentation);
    plan.presentation.intervals_shown = true;
    plan.intervals = options.count;
    plan.events = options.events;
    if (plan.events && !plan.presentation.format->intervals) {
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
    if (!options.buffer.empty()) {
        const auto buffer = buffer_mib_of(options.buffer);
        if (!buffer) return tl::make_unexpected(buffer.error());
        plan.buffer_mb = *buffer;
    }
    plan.quiet = options.quiet;
    plan.verbose = options.verbose;
    const auto is_live = wants_live(options, plan);
    if (!is_live) return tl::make_unexpected(is_live.error());
    plan.live = *is_live;
    plan.colours = colours_of(options.color);
    if (!plan.quiet) {
        for (const auto& hint : plan.filters.hints)
            base::tell(hint);
    }
    return plan;
}

}  // namespace stapgen::cli
