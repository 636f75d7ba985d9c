#pragma once

#include <optional>
#include <string_view>

namespace stapgen::decode {

/// A row of pwru (cilium/pwru): a packet at the entry of a function of the kernel.
///                    SKB         PROCESS                     FUNC        TIMESTAMP                            2021
///     0xffff8cf003facee0          [curl]             nf_hook_slow    2556412200355
///                    SKB    CPU          PROCESS                     FUNC                              2022, 2023
///     0xffff9f7827643600     24 [/usr/bin/docker-proxy:53608]  kfree_skb_reason(SKB_DROP_REASON_NO_SOCKET)
///     SKB                CPU PROCESS      NETNS      MARK/x IFACE  PROTO  MTU  LEN TUPLE FUNC CALLER   since 2024
///     0xffff9f0c9c08ff00 11  <empty>:2158 4026532686 0      eth0:2 0x0800 1500 98  10.0.0.1:0->10.0.0.2:0(icmp) ip_rcv
/// Before them may stand a time of day, behind the first two kinds "netns=... len=74 10.0.0.1:4->10.0.0.2:80(tcp)". Of
/// the third people cut columns on the left; what is left begins with the tuple or before it.
struct PwruRow {
    std::string_view packet;    ///< tells packets apart: the address of the skb; where that was cut, the tuple
    std::string_view function;  ///< "ip_rcv", "vxlan_xmit[vxlan]"
    std::string_view reason;    ///< of a function that drops; empty if it is unknown
    std::string_view caller;    ///< of --output-caller, else empty
};

std::optional<PwruRow> read_pwru_row(std::string_view line);

}  // namespace stapgen::decode
