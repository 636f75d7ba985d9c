#pragma once

#include <string>
#include <vector>

namespace stapgen::cli {

/// The whole program: `arguments` without the program's name; returns the exit code.
int run_command_line(const std::vector<std::string>& arguments);

}  // namespace stapgen::cli
