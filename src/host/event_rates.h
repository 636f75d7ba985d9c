#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "host/net_counters.h"
#include "host/system.h"

namespace stapgen::host {

/// The kernel's counters of events that probes are hit by, and the moment of the reading.
struct EventCounters {
    /// As read_net_counters(), with those of /proc/net/snmp6 and, of /proc/stat, stat.ctxt, stat.intr and stat.softirq.
    /// Of this network namespace but for softnet and stat, which are the machine's.
    NetCounters counters;
    std::map<std::uint32_t, std::uint32_t> received_by_cpu;  ///< CPU -> softnet.processed
    std::chrono::steady_clock::time_point at;
};

EventCounters read_event_counters(const System& system);

/// Adds stat.ctxt, stat.intr and stat.softirq: the sums of these lines of /proc/stat.
void parse_stat_counters(std::string_view text, NetCounters& counters);

/// How many there were between two readings; 0 of a counter that the kernel does not have.
double events_between(const EventCounters& before, const EventCounters& after, const std::string& counter);

/// What part of the packets received meanwhile the busiest CPU took, 0 to 1; nothing if there were none.
std::optional<double> busiest_part(const EventCounters& before, const EventCounters& after);

}  // namespace stapgen::host
