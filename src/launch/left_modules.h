#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/system.h"

namespace stapgen::launch {

/// Modules of SystemTap in the kernel that nobody reads: their staprun was killed together with whoever started it, or
/// somebody detached it (staprun -L). Their probes cost time all the same.
std::vector<std::string> left_modules(const host::System& system);

/// A sentence on each, with the command that removes it.
std::vector<std::string> told(const std::vector<std::string>& left);

}  // namespace stapgen::launch
