// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/drop_reason_table.h"

#include <cstddef>

#include "base/text.h"

namespace stapgen::symbols {

namespace {

struct Changes {
    LinuxVersion since;        // asked for by a kernel of this version or newer
    std::string_view release;  // that it was read from
    std::string_view text;     // from the entry before: "+4:A,B" puts A at 4 and B at 5, "-9:C,D" takes two out at 9
};

// Read of these releases, none inferred: enum skb_drop_reason in include/linux/skbuff.h (5.17 to 5.19),
// include/net/dropreason.h (6.0 to 6.3), include/net/dropreason-core.h (6.4 and later).
// - Trees imported from the release's archive, version as in their Makefile: 5.17, 5.18.12, 5.19, 6.0.19, 6.2.1, 6.3.8,
//   6.4.4, 6.5, 6.7.3, 6.8, 6.9, 6.10, 6.11.11, 6.12, 6.13.7, 6.17, 7.0, 7.1.3.
// - vmlinux.h made of the release's own BTF: 6.6, 6.14, 6.18, 6.19 (libbpf/vmlinux.h), 6.15.5 (inspektor-gadget).
// - Debian's linux-headers, whose patches leave the file alone: 6.1.170, 6.1.192, 6.12.94, 6.12.107, 6.12.115, 7.2.6,
//   7.3.4. Debian's 6.1.190 is as 6.1.170, and its 6.12.116 and 6.12.117 are as 6.12.115.
// No source was at hand for 6.16 and for other stable series.
constexpr Changes reason_changes[] = {
    {{5, 17, 0}, "5.17", "+0:NOT_SPECIFIED,NO_SOCKET,PKT_TOO_SMALL,TCP_CSUM,SOCKET_FILTER,UDP_CSUM"},
    {{5, 18, 0},
     "5.18.12",
     "+0:NOT_DROPPED_YET +7:NETFILTER_DROP,OTHERHOST,IP_CSUM,IP_INHDR,IP_RPFILTER,UNICAST_IN_L2_MULTICAST,"
     "XFRM_POLICY,IP_NOPROTO,SOCKET_RCVBUFF,PROTO_MEM,TCP_MD5NOTFOUND,TCP_MD5UNEXPECTED,TCP_MD5FAILURE,"
     "SOCKET_BACKLOG,TCP_FLAGS,TCP_ZEROWINDOW,TCP_OLD_DATA,TCP_OVERWINDOW,TCP_OFOMERGE,IP_OUTNOROUTES,"
     "BPF_CGROUP_EGRESS,IPV6DISABLED,NEIGH_CREATEFAIL,NEIGH_FAILED,NEIGH_QUEUEFULL,NEIGH_DEAD,TC_EGRESS,"
     "QDISC_DROP,CPU_BACKLOG,XDP,TC_INGRESS,PTYPE_ABSENT,SKB_CSUM,SKB_GSO_SEG,SKB_UCOPY_FAULT,DEV_HDR,DEV_READY,"
     "FULL_RING,NOMEM,HDR_TRUNC,TAP_FILTER,TAP_TXFILTER"},
    {{5, 19, 0},
     "5.19",
     "+26:TCP_RFC7323_PAWS,TCP_INVALID_SEQUENCE,TCP_RESET,TCP_INVALID_SYN,TCP_CLOSE,TCP_FASTOPEN,TCP_OLD_ACK,"
     "TCP_TOO_OLD_ACK,TCP_ACK_UNSENT_DATA,TCP_OFO_QUEUE_PRUNE,TCP_OFO_DROP -49:PTYPE_ABSENT +49:UNHANDLED_PROTO "
     "+60:ICMP_CSUM,INVALID_PROTO,IP_INADDRERRORS,IP_INNOROUTES,PKT_TOO_BIG"},
    {{6, 0, 0}, "6.0.19", ""},
    {{6, 1, 0}, "6.1.170", ""},
    {{6, 1, 192}, "6.1.192", "+65:TC_CHAIN_NOTFOUND"},
    {{6, 2, 0}, "6.2.1", "+1:CONSUMED -66:TC_CHAIN_NOTFOUND +66:DUP_FRAG,FRAG_REASM_TIMEOUT,FRAG_TOO_FAR"},
    {{6, 3, 0},
     "6.3.8",
     "+69:TCP_MINTTL,IPV6_BAD_EXTHDR,IPV6_NDISC_FRAG,IPV6_NDISC_HOP_LIMIT,IPV6_NDISC_BAD_CODE,"
     "IPV6_NDISC_BAD_OPTIONS,IPV6_NDISC_NS_OTHERHOST"},
    {{6, 4, 0}, "6.4.4", ""},
    {{6, 5, 0}, "6.5", ""},
    {{6, 6, 0}, "6.6", "+28:TCP_OLD_SEQUENCE +77:QUEUE_PURGE"},
    {{6, 7, 0},
     "6.7.3",
     "+18:TCP_AUTH_HDR +22:TCP_AONOTFOUND,TCP_AOUNEXPECTED,TCP_AOKEYNOTFOUND,TCP_AOFAILURE +83:TC_ERROR"},
    {{6, 8, 0}, "6.8", "-83:TC_ERROR +83:TC_COOKIE_ERROR,PACKET_SOCK_ERROR,TC_CHAIN_NOTFOUND,TC_RECLASSIFY_LOOP"},
    {{6, 9, 0}, "6.9", "+28:TCP_ABORT_ON_DATA +36:TCP_INVALID_ACK_SEQUENCE +54:SECURITY_HOOK"},
    {{6, 10, 0}, "6.10", ""},
    {{6, 11, 0}, "6.11.11", ""},
    {{6, 12, 0}, "6.12", ""},
    {{6, 12, 94},
     "6.12.94",
     "+90:VXLAN_INVALID_HDR,VXLAN_VNI_NOT_FOUND,MAC_INVALID_SOURCE,VXLAN_ENTRY_EXISTS,NO_TX_TARGET,"
     "IP_TUNNEL_ECN,TUNNEL_TXINFO,LOCAL_MAC"},
    {{6, 12, 107},
     "6.12.107",
     "+4:SOCKET_CLOSE,SOCKET_FILTER,SOCKET_RCVBUFF,UNIX_SKIP_OOB -10:SOCKET_FILTER -19:SOCKET_RCVBUFF"},
    {{6, 12, 115}, "6.12.115", "+58:FQ_BAND_LIMIT,FQ_HORIZON_LIMIT,FQ_FLOW_LIMIT +67:SKB_BAD_GSO"},
    {{6, 13, 0},
     "6.13.7",
     "-4:SOCKET_CLOSE,SOCKET_FILTER,SOCKET_RCVBUFF,UNIX_SKIP_OOB +6:SOCKET_FILTER +16:SOCKET_RCVBUFF "
     "-56:FQ_BAND_LIMIT,FQ_HORIZON_LIMIT,FQ_FLOW_LIMIT -62:SKB_BAD_GSO +74:IP_LOCAL_SOURCE,IP_INVALID_SOURCE,"
     "IP_LOCALNET,IP_INVALID_DEST -98:NO_TX_TARGET +98:VXLAN_NO_REMOTE +102:ARP_PVLAN_DISABLE"},
    {{6, 14, 0},
     "6.14",
     "+4:SOCKET_CLOSE,SOCKET_FILTER,SOCKET_RCVBUFF,UNIX_DISCONNECT,UNIX_SKIP_OOB -11:SOCKET_FILTER "
     "-20:SOCKET_RCVBUFF +37:TCP_RFC7323_PAWS_ACK +60:QDISC_OVERLIMIT,QDISC_CONGESTED,CAKE_FLOOD,FQ_BAND_LIMIT,"
     "FQ_HORIZON_LIMIT,FQ_FLOW_LIMIT -108:VXLAN_NO_REMOTE +108:NO_TX_TARGET +113:MAC_IEEE_MAC_CONTROL,"
     "BRIDGE_INGRESS_STP_STATE"},
    {{6, 15, 0}, "6.15.5", "+38:TCP_RFC7323_TSECR,TCP_LISTEN_OVERFLOW"},
    {{6, 17, 0},
     "6.17",
     "+38:TCP_RFC7323_TW_PAWS +43:TCP_INVALID_END_SEQUENCE +61:NEIGH_HH_FILLFAIL +120:CAN_RX_INVALID_FRAME,"
     "CANFD_RX_INVALID_FRAME,CANXL_RX_INVALID_FRAME,PFMEMALLOC,DUALPI2_STEP_DROP"},
    {{6, 18, 0}, "6.18", "+125:PSP_INPUT,PSP_OUTPUT"},
    {{6, 19, 0}, "6.19", "+65:QDISC_BURST_DROP"},
    {{7, 0, 0}, "7.0", ""},
    {{7, 1, 0},
     "7.1.3",
     "-66:QDISC_OVERLIMIT,QDISC_CONGESTED,CAKE_FLOOD,FQ_BAND_LIMIT,FQ_HORIZON_LIMIT,FQ_FLOW_LIMIT "
     "+67:MACVLAN_BROADCAST_BACKLOG,IPVLAN_MULTICAST_BACKLOG +74:SKB_BAD_GSO +97:IPV6_TOO_MANY_EXTHDRS "
     "-123:DUALPI2_STEP_DROP +125:RECURSION_LIMIT"},
    {{7, 2, 0}, "7.2.6", ""},
    {{7, 3, 0}, "7.3.4", ""},
};

struct Subsystems {
    LinuxVersion since;
    std::string_view names;
};

// enum skb_drop_reason_subsys in include/net/dropreason.h of the same sources.
constexpr Subsystems subsystem_lists[] = {
    {{6, 4, 0}, "CORE,MAC80211_UNUSABLE,MAC80211_MONITOR"},
    {{6, 6, 0}, "CORE,MAC80211_UNUSABLE,MAC80211_MONITOR,OPENVSWITCH"},
    {{6, 15, 0}, "CORE,MAC80211_UNUSABLE,OPENVSWITCH"},
    {{7, 1, 0}, "CORE,MAC80211_UNUSABLE,OPENVSWITCH,QDISC"},
};

void apply(std::string_view changes, std::vector<std::string_view>& names) {
    for (const auto change : base::words(changes)) {
        const auto colon = change.find(':');
        const auto at = names.begin() + static_cast<std::ptrdiff_t>(*base::to_unsigned(change.substr(1, colon - 1)));
        const auto list = base::split(change.substr(colon + 1), ',');
        if (change.starts_with('+')) {
            names.insert(at, list.begin(), list.end());
        } else {
            names.erase(at, at + static_cast<std::ptrdiff_t>(list.size()));
        }
    }
}

}  // namespace

std::optional<ReasonTable> reason_table(const LinuxVersion& version) {
    std::optional<ReasonTable> table;
    for (const auto& entry : reason_changes) {
        if (entry.since > version) break;
        if (!table) table.emplace();
        table->release = entry.release;
        table->same_series = entry.since[0] == version[0] && entry.since[1] == version[1];
        apply(entry.text, table->names);
    }
    for (const auto& entry : subsystem_lists) {
        if (table && entry.since <= version) table->subsystems = base::split(entry.names, ',');
    }
    return table;
}

std::string subsystem_of_any_release(std::uint32_t number) {
    std::string names;
    std::string_view last;
    for (const auto& entry : subsystem_lists) {
        const auto list = base::split(entry.names, ',');
        if (number >= list.size() || list[number] == last) continue;
        last = list[number];
        names += (names.empty() ? "" : "/") + std::string(last);
    }
    return names;
}

}  // namespace stapgen::symbols
