#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stapgen::base {

/// False for what stands among the counters of /proc/net/snmp and netstat and is a setting or a state, as
/// "Tcp.CurrEstab" (RFC 1213); `name` is as that one.
bool is_counter(std::string_view name);

/// "TcpExtListenOverflows", as nstat and /proc/net/snmp6 have it, as "TcpExt.ListenOverflows". Nothing if it begins
/// with none of the kernel's groups.
std::optional<std::string> grouped_counter_name(std::string_view name);

/// Whether it is a counter's name without its group: "ListenOverflows".
bool is_counter_name(std::string_view name);

/// A group of /proc/net/snmp, netstat and snmp6: "TcpExt".
bool is_counter_group(std::string_view name);

/// One CPU's line of /proc/net/softnet_stat (softnet_seq_show in net/core/net-procfs.c). The counters have 32 bits, so
/// only the difference of two readings means something.
struct SoftnetLine {
    std::optional<std::uint32_t> cpu;  ///< nothing before 5.10, where only the lines' order tells it
    std::vector<std::pair<const char*, std::uint32_t>> counters;  ///< "softnet.dropped"; older kernels have fewer
};
SoftnetLine read_softnet_line(std::span<const std::string_view> words);

}  // namespace stapgen::base
