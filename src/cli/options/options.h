// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

#include "module/make.h"
#include "session/plan.h"
#include "session/presentation.h"
#include "session/replay.h"
#include "symbols/kernel_names.h"

/// Values of the options of a command line: of each command its own, and nothing else.
namespace stapgen::cli {

/// How results are shown.
struct PresentOptions {
    session::Presentation shown;  ///< but for these:
    std::string format = "table", by;
    std::string color = "auto";  ///< auto, always or never
};

/// What is kept of the seconds before.
struct KeepOptions {
    session::KeepPlan plan;  ///< asked for where `before` is above 0; but for these:
    std::vector<std::string> conditions;
};

/// How a measurement is made.
struct MeasureOptions {
    session::MeasurePlan plan;  ///< but for these:
    recording::TypedFilters filters;
    std::vector<std::string> labels;
    PresentOptions present;
    std::string live = "auto";  ///< auto, always or never
    KeepOptions keep;
};

struct RunOptions {
    module::MakeOptions make;
    MeasureOptions measure;
};

struct WhyOptions {
    RunOptions run;
    std::vector<std::string> recordings;
    session::Selection selection;            ///< of recordings; the filters have its port and address
    std::optional<recipe::Recipe> recipe;    ///< that it measures packets with; nothing: it is not there
    std::optional<recipe::Recipe> requests;  ///< likewise requests
    bool asks_requests = false;
};

struct ExecOptions {
    std::string module;
    MeasureOptions measure;
};

struct RenderOptions {
    module::MakeOptions make;
    recording::TypedFilters filters;
    bool standalone = false;
};

struct BuildOptions {
    module::MakeOptions make;
    std::string output;
    bool quiet = false, verbose = false;
};

struct CheckOptions {
    module::MakeOptions make;
    bool quiet = false, verbose = false;
};

struct ListOptions {
    std::string folder, format = "table";
};

struct ShowOptions {
    std::string recipe, format = "table";
};

struct DoctorOptions {
    std::vector<std::string> recipes;
    bool warm = false;
    module::MakeOptions make;
    std::string format = "table", color = "auto";
};

struct FleetRunOptions {
    std::string hosts, ssh = "ssh";
    std::vector<std::string> programs, ssh_options, modules, compile_on;
    std::optional<std::int64_t> batch;
    std::optional<std::chrono::nanoseconds> connect_timeout;
    bool sudo = false;
    recording::TypedFilters filters;
    module::MakeOptions make;
    KeepOptions keep;
    std::optional<std::chrono::nanoseconds> duration;
    std::string output;
    std::optional<std::int64_t> buffer_mb;
    bool quiet = false;
};

struct FleetReportOptions {
    std::string folder;
    std::optional<std::filesystem::path> output;
    PresentOptions present;
};

struct FleetCompareOptions {
    std::string folder;
    double threshold = 0.05;
    std::vector<table::Percentile> percentiles;  ///< empty: 50 and 99
    std::optional<std::filesystem::path> output;
    PresentOptions present;
};

struct BetweenOptions {
    std::vector<std::string> files;
    std::optional<std::int64_t> port;
    std::optional<std::filesystem::path> output;
    PresentOptions present;
};

struct ServeOptions {
    std::vector<std::string> recipes;  ///< each with its own options
    std::string listen = "127.0.0.1:9752";
    std::optional<std::string> otlp;
    std::optional<std::int64_t> native_schema;
    /// As many as a host's other exporters have together. A host's drops and counters are some hundred; containers,
    /// each with a device of its own, can make them endless.
    std::size_t max_series = 2000;
    bool dry_run = false;
};

struct ReportOptions {
    std::vector<std::string> files;
    session::ReplayOptions replay;
    std::vector<std::string> conditions;
    std::optional<std::filesystem::path> output;
    PresentOptions present;
    symbols::NameSources names;
};

struct CompareOptions {
    std::string before, after;
    double threshold = 0.05;
    std::optional<std::filesystem::path> output;
    PresentOptions present;
};

struct ResolveOptions {
    std::vector<std::string> words;  ///< addresses, or the file of --annotate
    symbols::NameSources names;
    std::string recording;
    bool return_addresses = false, drop_sites = false, annotate = false, lines = false;
    std::string format = "table";
};

struct ExportOptions {
    std::vector<std::string> files;
    std::string store;
    bool events = false;
    symbols::NameSources names;
};

struct QueryOptions {
    std::string store, sql, question, format = "table";
};

struct NewRecipeOptions {
    std::string name, into;
};

struct HelpOptions {
    std::vector<std::string> words;
};

struct ManOptions {
    std::string folder;
    bool installed = false;
};
struct McpOptions {
    std::string folder;
};

}  // namespace stapgen::cli
