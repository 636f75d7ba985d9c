#pragma once

#include <string>
#include <vector>

#include "analyze/summary.h"

namespace stapgen::report {

/// Each host with its kernel once: "web17, Linux 6.12"; empty where nothing is known.
std::vector<std::string> hosts_of(const analyze::Summary& summary);

/// A line for each measurement, the first few: "on web17, Linux 6.12: stapgen rx-latency --port 80".
std::vector<std::string> origin_lines(const analyze::Summary& summary);

/// By what was filtered: "--port 80", or of measurements that differ in it "--port 80 or --port 81"; empty where that
/// is not known.
std::string filters_text(const analyze::Summary& summary);

}  // namespace stapgen::report
