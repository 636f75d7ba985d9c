#pragma once

#include <string>
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

/// Adds what the driver of this device counts, as `ethtool -S` shows it: "ethtool.NAME", where NAME is the driver's. A
/// driver may count what it likes, and under one name twice. Nothing where it counts nothing, or where an old kernel
/// lets nobody but root ask.
void add_ethtool_counters(const std::string& device, std::vector<DeviceCounter>& counters);

}  // namespace stapgen::host
