#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/record.h"

namespace stapgen::decode {

/// One event of the kernel's tracepoints as perf script or ftrace (trace, trace_pipe, trace-cmd report) prints it:
///     memcached  1234/1236  [003]  5123.456789:  net:net_dev_xmit: dev=eth0 skbaddr=0xffff8800cda03400 len=66 rc=0
///     memcached-1236  ( 1234) [003] ..s2. 5123.456789: net_dev_xmit: dev=eth0 skbaddr=00000000a1b2c3d4 len=66 rc=0
struct KernelEvent {
    Value comm, tid, cpu;
    Value time;             ///< ns of the clock of the trace
    std::string_view name;  ///< without its group
    std::string_view arguments;
};

/// Nothing if the line is no event, or has no time with a decimal point.
std::optional<KernelEvent> read_kernel_event(std::string_view line);

/// "len=66" of " ... len=66 rc=0" for "len=": the text behind it up to the next blank; empty if it is not there.
std::string_view argument(std::string_view arguments, std::string_view name);

/// Hexadecimal, with or without 0x.
std::optional<std::uint64_t> hexadecimal(std::string_view text);

/// Whether it is a line of the call chain below an event: "ffffffff8176ac9d tcp_v4_rcv+0x1f ([kernel.kallsyms])",
/// "=> tcp_v4_rcv".
bool is_stack_line(std::string_view line);

/// How many events a line says were lost: ftrace's "CPU:3 [LOST 4711 EVENTS]", trace-cmd's "CPU:3 [17 EVENTS DROPPED]",
/// perf's "Processed 4711 events and lost 2 chunks!", of which each is an event or more. 1 where the number is left
/// out.
std::optional<std::int64_t> lost_events(std::string_view line);

}  // namespace stapgen::decode
