#pragma once

#include <cstddef>

#include "launch/progress.h"

namespace stapgen::cli {

/// Of the terminal that a descriptor is; 0 where it is none.
std::size_t terminal_columns(int descriptor);

/// How stderr is told of progress: in a line that is redrawn where it is a terminal that can do that.
launch::ProgressStyle progress_style(bool quiet);

}  // namespace stapgen::cli
