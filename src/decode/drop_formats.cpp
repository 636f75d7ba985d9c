// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/drop_formats.h"

namespace stapgen::decode {

namespace {

using Row = DropShape::Kind;

/// The line of `cilium monitor` for a packet that its programs of BPF drop (DropNotify of
/// pkg/monitor/datapath_drop.go), of versions without the flow, the device and the file and with them, and with -v:
///     xx drop (Policy denied) to endpoint 25729, identity 261->264: 10.11.13.37 -> 10.11.101.61 EchoRequest
///     xx drop (Policy denied (L3)) flow 0x8f2a to endpoint 0, ifindex 24, file bpf_lxc.c:2004, , identity 1->2: ...
///     CPU 01: MARK 0x8f2a FROM 1204 DROP: 74 bytes, reason Policy denied, identity 1->2, to endpoint 5
/// The file is "unknown(0):0" of a version that does not know it. Its other lines are not of drops.
constexpr DropShape cilium_shapes[]{
    {"xx drop (*) flow 0x*, file unknown(*", "reason - -"},
    {"xx drop (*) flow 0x*, file *,*", "reason - place -"},
    {"xx drop (*) flow 0x*", "reason -"},
    {"xx drop (*) to endpoint *, file unknown(*", "reason - -"},
    {"xx drop (*) to endpoint *, file *,*", "reason - place -"},
    {"xx drop (*) to endpoint *", "reason -"},
    {"xx drop (*) identity *", "reason -"},
    {"CPU *: MARK 0x* FROM * DROP: * bytes, reason *, identity *", "word word word word reason -"},
    {"CPU *: MARK 0x* FROM * DROP: * bytes, reason *, to endpoint *", "word word word word reason -"},
    {"CPU *: MARK 0x* FROM * DROP: * bytes, reason *", "word word word word reason"},
    {"Listening for events on * CPUs with * of shared memory", "word word", Row::heading},
    {"Press Ctrl-C to quit", "", Row::below}};

/// Counters of drops by reason as ebpf_exporter and others hand them to Prometheus, a time stamp behind them or not:
///     ebpf_exporter_kfree_skb_total{ip_proto="tcp",reason="SKB_DROP_REASON_NO_SOCKET"} 12
constexpr DropShape metrics_shapes[]{{"*kfree_skb_total{*reason=\"*\"*} *", "- - reason - total"},
                                     {"*kfree_skb_total{*reason=\"*\"*} * *", "- - reason - total int"},
                                     {"# *kfree_skb_total*", "- -", Row::remark}};

/// The rows of bcc's tcpdrop for each dropped TCP packet, with a reason since March 2025, and bpftrace's tcpdrop.bt:
///     20:49:06 0      4  10.32.119.56:443     > 10.66.65.252:22912   CLOSE (ACK)
///     14:46:49 0      4  39.156.66.10:80      > 10.211.55.10:33280   SYN_SENT (SYN|ACK)   NETFILTER_DROP (12)
///     20:49:06 0        swapper/2        10.32.119.56:443      10.66.65.252:22912    CLOSE
/// Below it are the calls that led there; the first that does not only drop is the place. Of a reason the number is
/// taken: the name is looked up in a list of tcpdrop's own, whatever kernel it is.
constexpr DropShape tcpdrop_shapes[]{{"* * * * > * * (*) * (*)", "clock int word endpoint endpoint word - word number"},
                                     {"* * * * > * * (*)", "clock int word endpoint endpoint word -"},
                                     {"* * * * * *", "clock int - endpoint endpoint word"},
                                     {"TIME * SADDR:SPORT * (FLAGS)*", "- - -", Row::heading},
                                     {"TIME * SADDR:SPORT * STATE", "- -", Row::heading},
                                     {"Tracing tcp drops. Hit Ctrl-C to end.", "", Row::heading},
                                     {"WARNING: tcp_drop() *", "-", Row::remark}};

constexpr DropFormat tools[]{
    {.title = "cilium monitor", .recipe = "cilium", .shapes = cilium_shapes, .owner = "Cilium's"},
    {.title = "kfree_skb_total",
     .recipe = "kfree_skb_total",
     .shapes = metrics_shapes,
     .note = "the counts are those since the exporter began, up to its last sample"},
    {.title = "tcpdrop",
     .recipe = "tcpdrop",
     .shapes = tcpdrop_shapes,
     .has_stacks = true,
     .numbers_note = "reasons are the kernel's numbers, named by --release: tcpdrop's own names are those of Linux "
                     "6.14"}};

}  // namespace

std::span<const DropFormat> drop_formats() {
    return tools;
}

}  // namespace stapgen::decode
