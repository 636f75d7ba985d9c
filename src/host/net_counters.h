#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/system.h"

namespace stapgen::host {

/// What the kernel counts in one network namespace, as `nstat` shows it: "TcpExt.ListenOverflows" -> its value.
using NetCounters = std::map<std::string, std::int64_t>;

/// Of the network namespace that this process is in (/proc/net/netstat and snmp), and those of /proc/net/softnet_stat
/// as "softnet.dropped". What cannot be read is not there.
NetCounters read_net_counters(const System& system);

/// Adds what is in the text of one of these files: pairs of lines, "Tcp: names" and "Tcp: values".
void parse_net_counters(std::string_view text, NetCounters& counters);

/// One CPU's counter of /proc/net/softnet_stat. It has 32 bits, so only the difference of two readings means something.
struct SoftnetCounter {
    std::uint32_t cpu = 0;
    const char* name = nullptr;
    std::uint32_t value = 0;
};
/// What is in the text of softnet_stat: softnet.processed, dropped, time_squeeze, received_rps and flow_limit of each
/// CPU. A kernel that does not tell the CPUs' numbers has its lines counted.
std::vector<SoftnetCounter> softnet_counters(std::string_view text);

/// Adds the same, all CPUs together.
void parse_softnet_counters(std::string_view text, NetCounters& counters);

/// Adds what is in the text of /proc/net/snmp6, a name and a number on each line: "Udp6InDatagrams" is
/// "Udp6.InDatagrams".
void parse_snmp6_counters(std::string_view text, NetCounters& counters);

/// By how much a counter has risen; nothing if the kernel does not have it. Modulo 2^64, of softnet counters 2^32.
std::optional<std::int64_t> difference(const NetCounters& before, const NetCounters& after, const std::string& name);

}  // namespace stapgen::host
