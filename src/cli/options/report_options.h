#pragma once

#include <CLI/App.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/presentation.h"

namespace stapgen::cli {

/// As typed.
struct PresentOptions {
    std::string percentiles, format = "table", by;
    bool series = false, hide_benign = false;
    std::size_t top = 20, slowest = 5;
};

/// --format, one of `choices`, and -j, the same as json, or as ndjson where that is not among them. `format` holds the
/// default. `details` tells more of the choices.
void add_format(CLI::App& command, std::string& format, const std::vector<std::string>& choices,
                const std::string& details = {});

void add_percentiles(CLI::App& command, std::string& percentiles);

/// How results are shown: -P, --format, -j, --by, --top, --slowest, --series, --hide-benign. `of_files`: --by takes
/// origin_words, too.
void add_present_options(CLI::App& command, PresentOptions& options, bool of_files = false);

/// The same, checked.
base::Result<report::Presentation> presentation_of(const PresentOptions& options);

}  // namespace stapgen::cli
