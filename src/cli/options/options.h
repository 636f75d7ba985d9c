// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

#include "module/make.h"
#include "report/presentation.h"
#include "session/plan.h"
#include "session/replay.h"
#include "symbols/kernel_names.h"

/// The values of a command line. A command uses those that it has options for.
namespace stapgen::cli {

/// How results are shown.
struct PresentOptions {
    report::Presentation shown;  ///< but for these:
    std::string format = "table", by;
    std::string color = "auto";  ///< auto, always or never
};

/// How a measurement is made.
struct MeasureOptions {
    session::MeasurePlan plan;  ///< but for these:
    recording::TypedFilters filters;
    std::vector<std::string> labels;
    PresentOptions present;
    std::string live = "auto";  ///< auto, always or never
};

/// Which hosts are measured, and how they are reached.
struct FleetOptions {
    std::string hosts, program, ssh = "ssh";
    std::vector<std::string> ssh_options, modules, compile_on;
    std::optional<std::int64_t> batch;
    std::optional<std::chrono::nanoseconds> connect_timeout;
    std::vector<table::Percentile> percentiles;  ///< of compare; empty: 50 and 99
    bool sudo = false;
};

/// Where metrics go.
struct ServeOptions {
    std::string listen = "127.0.0.1:9752";
    std::optional<std::string> otlp;
    std::optional<std::int64_t> native_schema;
    /// As many as a host's other exporters have together. A host's drops and counters are some hundred; containers,
    /// each with a device of its own, can make them endless.
    std::size_t max_series = 2000;
};

struct Options {
    std::string recipe_path;
    module::MakeOptions make;
    MeasureOptions measure;
    FleetOptions fleet;
    ServeOptions serve;
    PresentOptions present;  ///< of what is not measured
    symbols::NameSources names;
    session::ReplayOptions replay;                ///< of report
    std::optional<std::filesystem::path> output;  ///< likewise
    std::vector<std::string> words;               ///< arguments that may be several
    std::string file, recipe, name, into;         ///< arguments of exec, show, new-recipe and man
    std::string before, after;                    ///< of compare
    double threshold = 0.05;                      ///< likewise
    std::string recording;                        ///< of resolve
    bool standalone = false, warm = false, installed = false;
    bool return_addresses = false, drop_sites = false, annotate = false, lines = false;
};

}  // namespace stapgen::cli
