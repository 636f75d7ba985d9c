// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

namespace stapgen::cli {

/// The whole program: `words` are those behind the program's name; returns the exit code.
int run_command_line(const std::vector<std::string>& words);

}  // namespace stapgen::cli
