#pragma once

#include <chrono>

#include "host/counter_lines.h"
#include "launch/child_process.h"

namespace stapgen::launch {

/// Hands out what `lines` prints, as run_child() hands out what a child prints: begin() at once, tick() at every
/// interval (0: none), end() when a handler has asked for it or the user has: while it runs, SIGINT, SIGTERM and SIGHUP
/// are ours. Of the handlers `output`, `tick` and `ended` are called. Not for two threads at once.
Ending count(host::CounterLines& lines, std::chrono::milliseconds interval, const Handlers& handlers);

}  // namespace stapgen::launch
