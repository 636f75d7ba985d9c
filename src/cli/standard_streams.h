#pragma once

#include "base/result.h"

namespace stapgen::cli {

/// To be called before any file is opened: one would get the number of a stream that is closed, and what is meant for
/// the stream would go into it.
void hold_standard_streams();

/// Writes what is not written yet. Error: what stdout goes to did not take all of it. A reader that went away
/// and a terminal that was closed wanted no more: that is none.
base::Result<void> finish_output();

/// The exit codes of DESIGN.md's contract.
int exit_code_of(const base::Error& error);

}  // namespace stapgen::cli
