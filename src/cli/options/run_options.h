#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/filter_options.h"
#include "cli/options/report_options.h"
#include "live/terminal.h"
#include "module/make_options.h"
#include "recipe/parameters.h"
#include "recipe/recipe.h"
#include "recording/writer.h"
#include "session/plan.h"

namespace stapgen::cli {

/// How a module is made: -r, --symbols, --stap, --debuginfo, --all-modules, --module, --stap-option, --no-workaround,
/// --cost, --budget and --dry-run.
void add_make_options(CLI::App& command, module::MakeOptions& options);
/// The first of them: -r, --symbols, --stap, --debuginfo.
void add_target_options(CLI::App& command, module::MakeOptions& options);
void add_no_workaround(CLI::App& command, module::MakeOptions& options);
void add_dry_run(CLI::App& command, bool& dry_run);
void add_debuginfo(CLI::App& command, std::string& debuginfo);
void add_cost(CLI::App& command, module::MakeOptions& options);

/// --guru, of a recipe that asks for it.
void add_guru(CLI::App& command, const recipe::Recipe& recipe, bool& guru);

void add_parameters(CLI::App& command, const recipe::Recipe& recipe, recipe::Arguments& arguments);
void add_interval(CLI::App& command, const recipe::Recipe& recipe, std::string& interval);
/// --aggregate, of a recipe that can.
void add_aggregate(CLI::App& command, const recipe::Recipe& recipe, bool& aggregate);
void add_quiet(CLI::App& command, bool& quiet);
void add_verbose(CLI::App& command, bool& verbose);

/// As typed.
struct MeasureOptions {
    session::FilterOptions filters;
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

/// Checks values, and says on stderr what of the filters is not there now, and why there is no live view. Threads and
/// processes need not be there for a `dry_run`.
base::Result<session::MeasurePlan> plan_of(const MeasureOptions& options, bool dry_run = false);

}  // namespace stapgen::cli
