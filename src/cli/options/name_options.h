#pragma once

#include <CLI/App.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "recording/facts.h"
#include "symbols/kernel_names.h"

namespace stapgen::cli {

/// As typed.
struct NameOptions {
    std::vector<std::string> map;
    std::string modules, kaslr_offset, release;
};

/// Where names of addresses come from: --map, --modules, --KASLR offset, -r.
void add_name_options(CLI::App& command, NameOptions& options);

/// The same, understood.
base::Result<symbols::NameSources> sources_of(const NameOptions& options);

}  // namespace stapgen::cli
