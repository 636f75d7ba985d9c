#pragma once

#include <string>
#include <vector>

#include "host/system.h"

namespace stapgen::host {

/// Adds what the driver of this device counts, as `ethtool -S` shows it: "ethtool.NAME", where NAME is the driver's. A
/// driver may count what it likes, and under one name twice. Nothing where it counts nothing, or where an old kernel
/// lets nobody but root ask.
void add_ethtool_counters(const std::string& device, std::vector<DeviceCounter>& counters);

}  // namespace stapgen::host
