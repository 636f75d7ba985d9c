// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "decode/record.h"

namespace stapgen::decode {

/// One event of the kernel's tracepoints as perf script, perf trace or ftrace (trace, trace_pipe, trace-cmd report)
/// prints it:
///     memcached  1234/1236  [003]  5123.456789:  net:net_dev_xmit: dev=eth0 skbaddr=0xffff8800cda03400 len=66 rc=0
///     memcached-1236  ( 1234) [003] ..s2. 5123.456789: net_dev_xmit: dev=eth0 skbaddr=00000000a1b2c3d4 len=66 rc=0
///     <idle>-0         3d.s.   12us+: net_dev_xmit: dev=eth0 skbaddr=...                ftrace's latency-format
///     12.345 ping/1236 net:net_dev_xmit(skbaddr: 0xffff8800cda03400, len: 66, name: "eth0")      perf trace
/// and what people have left of it: "5123.456789: net_dev_xmit: dev=eth0 ...", "kfree_skb: skbaddr=...".
struct KernelEvent {
    Value comm = not_seen, tid = not_seen, cpu = not_seen;
    Value time = not_seen;        ///< ns of the clock of the trace; of perf trace and latency-format since it began
    std::string_view name;        ///< without its group
    std::string_view arguments;   ///< "dev=eth0 len=66", "len: 66, name: \"eth0\""
    bool zeros_left_out = false;  ///< perf trace since 5.4 does not print fields that are 0

    /// "66" for "len", without quote marks; empty if it is not there.
    [[nodiscard]] std::string_view argument(std::string_view field) const;
};

/// Nothing if the line is no event. Any "name: ..." may be one: what the name says is for the caller.
std::optional<KernelEvent> read_kernel_event(std::string_view line);

/// The reason of a drop, "SKB_DROP_REASON_NO_SOCKET", "NO_SOCKET" or a number, as the value of a field reason_name; `-`
/// if it is empty.
Value reason_value(std::string_view text);

/// Whether it is a line of the call chain below an event: "ffffffff8176ac9d tcp_v4_rcv+0x1f ([kernel.kallsyms])",
/// "tcp_v4_rcv ([kernel.kallsyms])", "=> tcp_v4_rcv", "...: <stack trace>".
bool is_stack_line(std::string_view line);

}  // namespace stapgen::decode
