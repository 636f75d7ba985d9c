#pragma once

#include <string_view>
#include <vector>

#include "host/system.h"

namespace stapgen::host {

/// The statistics of every network device of this process's network namespace, as `ip -s link` shows them: asked for by
/// rtnetlink (RTM_GETLINK), as /sys/class/net is that of the namespace in which it was mounted. Empty where the kernel
/// does not answer.
std::vector<DeviceCounter> read_link_counters();

/// Adds what is in one answer of the kernel's. Returns whether it is the last one.
bool parse_link_answer(std::string_view bytes, std::vector<DeviceCounter>& counters);

}  // namespace stapgen::host
