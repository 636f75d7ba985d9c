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
    std::string modules, slide, release;
};

/// Where names of addresses come from: --map, --modules, --slide, -r.
void add_name_options(CLI::App& command, NameOptions& options);

/// The same, understood.
base::Result<symbols::NameSources> sources_of(const NameOptions& options);

/// Whether there is anything in it.
bool names_are_wanted(const symbols::NameSources& sources);

/// What a recording says of its kernel.
symbols::LogKernel kernel_of(const recording::Head& head);

/// The kernel's names, and its slide inferred from these addresses of drops where that is needed. What a user should
/// know goes to stderr. Error (bad_input): the slide cannot be told.
base::Result<void> settle_slide(symbols::KernelNames& names, std::span<const std::uint64_t> drop_addresses);

/// Writes what a user should know of the sources to stderr, each sentence once.
void show_notes(const symbols::KernelNames& names);

}  // namespace stapgen::cli
