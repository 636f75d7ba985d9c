#pragma once

#include <functional>

#include "base/result.h"
#include "cli/program_files.h"
#include "recipe/catalog.h"

namespace stapgen::cli {

/// What the whole program works with.
struct Program {
    ProgramFiles files;
    recipe::Catalog catalog;
};

/// What the command line asked for, decided by parsing it and done afterwards.
using Action = std::function<base::Result<void>()>;

/// Writes what is not written yet. Error: the file that stdout goes to did not take all of it. A reader that went away
/// and a terminal that was closed wanted no more: that is none.
base::Result<void> finish_output();

/// The exit codes of DESIGN.md's contract.
int exit_code_of(const base::Error& error);

}  // namespace stapgen::cli
