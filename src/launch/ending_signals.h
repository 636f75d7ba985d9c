#pragma once

#include <vector>

namespace stapgen::launch {

/// The signals by which a user asks us to end: SIGINT, SIGTERM, and SIGHUP unless it is ignored.
std::vector<int> ending_signals();

}  // namespace stapgen::launch
