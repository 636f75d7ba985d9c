#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "module/make_options.h"
#include "session/filters.h"

/// The values of a command line as typed. A command uses those that it has options for.
namespace stapgen::cli {

/// How results are shown.
struct PresentOptions {
    std::string percentiles, format = "table", by;
    bool series = false, hide_benign = false;
    std::size_t top = 20, slowest = 5;
};

/// How a measurement is made.
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

/// Where names of addresses come from.
struct NameOptions {
    std::vector<std::string> map;
    std::string modules, kaslr_offset, release;
};

struct Options {
    std::string recipe_path;
    module::MakeOptions make;
    MeasureOptions measure;
    PresentOptions present;  ///< of what is not measured
    NameOptions names;
    std::vector<std::string> words;               ///< arguments that may be several
    std::string file, recipe, name, into;         ///< arguments of exec, show, new-recipe and man
    std::string before, after, threshold = "5%";  ///< of compare
    std::string recording;                        ///< of resolve
    bool standalone = false, warm = false, installed = false;
    bool return_addresses = false, drop_sites = false, annotate = false, lines = false;
};

}  // namespace stapgen::cli
