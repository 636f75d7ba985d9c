#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/filters.h"
#include "cli/presenting.h"
#include "live/terminal.h"
#include "recipe/parameters.h"
#include "recipe/recipe.h"
#include "recording/writer.h"

namespace stapgen::cli {

/// As typed.
struct MakeOptions {
    std::string release, symbols, stap = "stap";
    std::string debuginfo = "auto";  ///< auto, never or require
    bool all_modules = false;
    std::vector<std::string> modules, stap_options, without_cures;
    bool guru = false;  ///< the user agrees to a script that has C of its own
    bool dry_run = false;
    bool cost = false;   ///< measure what the probes cost
    std::string budget;  ///< what they may cost
    recipe::Arguments arguments;
    std::string interval;
    bool aggregate = false;
};

/// How a module is made: -r, --symbols, --stap, --debuginfo, --all-modules, --module, --stap-option, --no-cure,
/// --cost, --budget and --dry-run.
void add_make_options(CLI::App& command, MakeOptions& options);
/// The first of them: -r, --symbols, --stap, --debuginfo.
void add_target_options(CLI::App& command, MakeOptions& options);
void add_no_cure(CLI::App& command, MakeOptions& options);
void add_dry_run(CLI::App& command, bool& dry_run);
void add_debuginfo(CLI::App& command, std::string& debuginfo);
void add_cost(CLI::App& command, MakeOptions& options);

/// --guru, of a recipe that asks for it.
void add_guru(CLI::App& command, const recipe::Recipe& recipe, bool& guru);

/// Fails where stap would be in guru mode (-g) without the recipe's declaration and the user's consent, or where the
/// recipe needs it and the user has not agreed.
base::Result<void> check_guru(const recipe::Recipe& recipe, const MakeOptions& options);
void add_parameters(CLI::App& command, const recipe::Recipe& recipe, recipe::Arguments& arguments);
void add_interval(CLI::App& command, const recipe::Recipe& recipe, std::string& interval);
/// --aggregate, of a recipe that can.
void add_aggregate(CLI::App& command, const recipe::Recipe& recipe, bool& aggregate);
void add_quiet(CLI::App& command, bool& quiet);
void add_verbose(CLI::App& command, bool& verbose);

/// The interval that was asked for, else the recipe's own; 0: none. Whole milliseconds from 10 ms to a day.
base::Result<std::chrono::milliseconds> interval_of(const std::string& typed, const recipe::Recipe& recipe);

/// As typed.
struct MeasureOptions {
    FilterOptions filters;
    PresentOptions present;
    std::string duration, buffer;
    std::optional<std::string> output, rotation;
    bool events = false;
    std::optional<std::int64_t> count;
    bool quiet = false, verbose = false;
    std::string live = "auto", color = "auto";  ///< auto, always or never
};

/// How a measurement is made: -d, -n, -o, --rotate, -q; and how its output is shown, --live and --color too.
void add_measure_options(CLI::App& command, MeasureOptions& options);

/// How a module is run: --buffer, -v.
void add_load_options(CLI::App& command, MeasureOptions& options);

/// --events: only where a record is one measurement.
void add_events(CLI::App& command, MeasureOptions& options);

/// The same, understood.
struct MeasurePlan {
    Filters filters;
    std::optional<std::chrono::nanoseconds> duration;
    std::optional<std::int64_t> intervals;
    Presentation presentation;
    bool events = false;
    std::optional<std::filesystem::path> output;  ///< of the recording
    recording::Rotation rotation;
    std::optional<std::int64_t> buffer_mb;
    bool quiet = false, verbose = false;
    bool live = false;  ///< shown on the terminal as it goes on
    live::Colours colours = live::Colours::automatic;
};

/// Where a live view is shown and neither the user nor the recipe says how often to report: often enough for a person
/// to see what the script counts.
inline constexpr auto live_interval = "1";

/// Whether the records of a run are aggregated in the kernel: where it was asked for, and by default in a long run that
/// asks for nothing that needs single records, which is said on stderr. Fails where both are asked for.
base::Result<bool> aggregates(const recipe::Recipe& recipe, bool asked, const MeasurePlan& plan);

/// Checks values, and says on stderr what of the filters is not there now, and why there is no live view. Threads and
/// processes need not be there for a `dry_run`.
base::Result<MeasurePlan> plan_of(const MeasureOptions& options, bool dry_run = false);

}  // namespace stapgen::cli
