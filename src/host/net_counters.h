// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/system.h"

namespace stapgen::host {

/// The kernel's counters of one network namespace, as `nstat` shows it: "TcpExt.ListenOverflows" -> its value.
using NetCounters = std::map<std::string, std::int64_t>;

/// Counters of the network namespace that this process is in (/proc/net/netstat and snmp), and those of
/// /proc/net/softnet_stat as "softnet.dropped". What cannot be read is not there.
NetCounters read_net_counters(const System& system);

/// Those of /proc/net/netstat, snmp and snmp6.
NetCounters read_namespace_counters(const System& system);

/// Adds what is in the text of netstat or snmp: pairs of lines, "Tcp: names" and "Tcp: values".
void parse_net_counters(std::string_view text, NetCounters& counters);

/// Adds what is in the text of /proc/net/snmp6, a name and a number on each line: "Udp6InDatagrams" is
/// "Udp6.InDatagrams".
void parse_snmp6_counters(std::string_view text, NetCounters& counters);

/// One CPU's counter of /proc/net/softnet_stat. It has 32 bits, so only the difference of two readings means something.
struct SoftnetCounter {
    std::uint32_t cpu = 0;
    const char* name = nullptr;
    std::uint32_t value = 0;
};
/// softnet.processed, dropped, time_squeeze, received_rps and flow_limit of each CPU. A kernel that does not print the
/// CPUs' numbers has its lines counted.
std::vector<SoftnetCounter> read_softnet_counters(const System& system);
std::vector<SoftnetCounter> softnet_counters(std::string_view text);

/// By how much a counter has risen; nothing if the kernel does not have it. Modulo 2^64, of softnet counters 2^32.
std::optional<std::int64_t> difference(const NetCounters& before, const NetCounters& after, const std::string& name);

/// The kernel's counters of events that probes are hit by, and the moment of the reading.
struct EventCounters {
    /// As read_net_counters(), with those of /proc/net/snmp6 and, of /proc/stat, stat.ctxt, stat.intr and stat.softirq.
    /// Counters of this network namespace, but softnet and stat are the machine's.
    NetCounters counters;
    std::map<std::uint32_t, std::uint32_t> received_by_cpu;  ///< CPU -> softnet.processed
    std::chrono::steady_clock::time_point at;
};
EventCounters read_event_counters(const System& system);

/// How many there were between two readings; 0 of a counter that the kernel does not have.
double events_between(const EventCounters& before, const EventCounters& after, const std::string& counter);

/// The busiest CPU's part of the packets received in between, 0 to 1; nothing if there were none.
std::optional<double> busiest_part(const EventCounters& before, const EventCounters& after);

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
