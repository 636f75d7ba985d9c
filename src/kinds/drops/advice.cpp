// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/drops/advice.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace stapgen::kinds::drops {

namespace {

constexpr std::string_view unspecified = "NOT_SPECIFIED";

/// Sorted by function and reason. Meanings: include/net/dropreason-core.h of Linux and the code at each place; counters
/// are spelled as nstat spells them. What may be the loss of a packet that was wanted is not benign.
constexpr auto advices = std::to_array<DropAdvice>({
    {"ARP_PVLAN_DISABLE",
     "an ARP request for an address behind the device that it came by; net.ipv4.conf.DEV.proxy_arp_pvlan"},
    {"BPF_CGROUP_EGRESS", "a BPF program of the sender's cgroup refused it; bpftool cgroup tree"},
    {"BRIDGE_INGRESS_STP_STATE", "its port of the bridge does not forward (STP); bridge -d link"},
    {"CAKE_FLOOD", "the flood protection of the qdisc cake: a flow that ignores congestion; tc -s qdisc show dev DEV"},
    {"CANFD_RX_INVALID_FRAME", "no valid CAN FD frame, or not from a CAN device; ip -d -s link show DEV"},
    {"CANXL_RX_INVALID_FRAME", "no valid CAN XL frame, or not from a CAN device; ip -d -s link show DEV"},
    {"CAN_RX_INVALID_FRAME", "no valid CAN frame, or not from a CAN device; ip -d -s link show DEV"},
    {"CPU_BACKLOG",
     "the CPU's input queue was full; /proc/net/softnet_stat, 2nd column; net.core.netdev_max_backlog, RPS"},
    {"DEV_HDR", "the header for the driver (virtio-net, tun) was wrong; look at who writes to it"},
    {"DEV_READY", "the device was not ready: down, or nobody reads its tap; ip -s link show DEV"},
    {"DUALPI2_STEP_DROP",
     "it waited longer than the step threshold of the qdisc dualpi2; tc -s qdisc show dev DEV; step_thresh"},
    {"DUP_FRAG", "an IP fragment that overlaps or repeats another; nstat -az Ip*Reasm*"},
    {"FQ_BAND_LIMIT", "a band of the qdisc fq was full; tc -s qdisc show dev DEV; limit"},
    {"FQ_FLOW_LIMIT", "one flow had too many packets in the qdisc fq; tc -s qdisc; flow_limit"},
    {"FQ_HORIZON_LIMIT", "its departure time was too far ahead for the qdisc fq; tc -s qdisc; horizon"},
    {"FRAG_REASM_TIMEOUT", "the other fragments never arrived; nstat -az IpReasmTimeout; check the MTU"},
    {"FRAG_TOO_FAR", "fragments of one sender were too far out of order; net.ipv4.ipfrag_max_dist"},
    {"FULL_RING", "the reader of a tap or tun (a guest, a VPN) is too slow; ip -s link; txqueuelen"},
    {"HDR_TRUNC", "its headers are longer than the packet; find the sender or tunnel: tcpdump -e -vv"},
    {"ICMP_CSUM", "wrong ICMP checksum; nstat -az IcmpInCsumErrors; a faulty device on the path"},
    {"INVALID_PROTO", "breaks the rules of its protocol, as an ICMP echo to a broadcast address"},
    {"IPV6DISABLED", "IPv6 is off on that device; sysctl net.ipv6.conf.DEV.disable_ipv6"},
    {"IPV6_BAD_EXTHDR", "a broken IPv6 extension header: find the sender or middlebox; tcpdump -e -vv ip6"},
    {"IPV6_NDISC_BAD_CODE",
     "neighbour discovery with an ICMPv6 code other than 0: a broken or forged sender; tcpdump -e -vv icmp6"},
    {"IPV6_NDISC_BAD_OPTIONS", "neighbour discovery with broken options: find the sender; tcpdump -e -vv icmp6"},
    {"IPV6_NDISC_FRAG",
     "fragmented neighbour discovery, which RFC 6980 forbids; net.ipv6.conf.DEV.suppress_frag_ndisc"},
    {"IPV6_NDISC_HOP_LIMIT",
     "neighbour discovery with a hop limit below 255: it passed a router, or is forged; tcpdump -e icmp6"},
    {"IPV6_NDISC_NS_OTHERHOST",
     "a neighbour solicitation for an address that is not ours: normal where multicast is flooded"},
    {"IPV6_TOO_MANY_EXTHDRS",
     "more IPv6 extension headers than the kernel follows: a broken or forged sender; tcpdump -e -vv ip6"},
    {"IPVLAN_MULTICAST_BACKLOG", "too many multicasts for the queue of an ipvlan; ip -d -s link show DEV"},
    {"IP_CSUM", "wrong IP header checksum; nstat -az IpExtInCsumErrors; a faulty device on the path"},
    {"IP_INADDRERRORS",
     "not an address of this host; ip route get ADDRESS; net.ipv4.ip_forward; nstat -az "
     "IpInAddrErrors"},
    {"IP_INHDR", "a broken IP header, or its TTL was used up (a loop?); nstat -az IpInHdrErrors"},
    {"IP_INNOROUTES", "no route to its destination; ip route get ADDRESS; nstat -az IpExtInNoRoutes"},
    {"IP_INVALID_DEST", "its destination is 0.0.0.0: a broken sender; tcpdump -e"},
    {"IP_INVALID_SOURCE", "its source is 0.0.0.0, a broadcast or a multicast address: a broken sender; tcpdump -e"},
    {"IP_LOCALNET", "an address of 127.0.0.0/8 from outside; net.ipv4.conf.DEV.route_localnet"},
    {"IP_LOCAL_SOURCE", "its source is an address of this host: a loop, or forged; accept_local"},
    {"IP_NOPROTO", "no handler for its IP protocol; nstat -az IpInUnknownProtos; a module not loaded?"},
    {"IP_OUTNOROUTES", "no route to send it by; ip route get ADDRESS; nstat -az IpOutNoRoutes"},
    {"IP_RPFILTER",
     "its return route uses another device; net.ipv4.conf.DEV.rp_filter; nstat -az "
     "TcpExtIPReversePathFilter"},
    {"IP_TUNNEL_ECN",
     "its ECN bits contradict those of the tunnel's outer header (RFC 6040): look at the other end of the tunnel"},
    {"LOCAL_MAC", "its source MAC address is our own: look for a loop; bridge -d link"},
    {"MACVLAN_BROADCAST_BACKLOG", "too many broadcasts for the queue of a macvlan; ip -d link show DEV; bcqueuelen"},
    {"MAC_IEEE_MAC_CONTROL", "a MAC control frame (PAUSE), which no bridge forwards; ethtool -a DEV; tcpdump -e"},
    {"MAC_INVALID_SOURCE", "its source MAC address is invalid; tcpdump -e"},
    {"NEIGH_CREATEFAIL", "the ARP or ND table was full; dmesg; net.ipv4.neigh.default.gc_thresh3"},
    {"NEIGH_DEAD", "its ARP or ND entry was being removed: device or address just went away"},
    {"NEIGH_FAILED", "the next hop answered no ARP or ND; ip neigh; is it up, in that VLAN?"},
    {"NEIGH_HH_FILLFAIL", "the device could not write its link header; ip -d link show DEV"},
    {"NEIGH_QUEUEFULL", "too many packets waited for an ARP or ND answer; ip neigh; unres_qlen_bytes"},
    {"NETFILTER_DROP", "a firewall rule; its counters show which one: nft list ruleset, iptables -L -v -n"},
    {"NOMEM", "out of memory; dmesg; vm.min_free_kbytes; /proc/net/sockstat"},
    {"NOT_SPECIFIED", "the kernel gives no reason; see the source of the function"},
    {"NO_SOCKET", "nobody listens there, or the connection is gone; ss -lntup; nstat -az UdpNoPorts TcpOutRsts"},
    {"NO_TX_TARGET", "the VXLAN device does not know where to send it; bridge fdb show dev DEV"},
    {"OTHERHOST", "for another MAC address: a promiscuous device or a flooding switch; ip -d link, ip neigh"},
    {"PACKET_SOCK_ERROR", "lost by a capture (packet socket), not by the receiver; its buffer was full: tcpdump -B"},
    {"PFMEMALLOC", "received into reserved memory: the machine is short of memory; dmesg; vm.min_free_kbytes"},
    {"PKT_TOO_BIG", "bigger than the MTU, and must not be fragmented; tracepath ADDRESS; is ICMP filtered?"},
    {"PKT_TOO_SMALL", "shorter than its headers say; find the sender or tunnel: tcpdump -e -vv"},
    {"PROTO_MEM", "the protocol's memory limit; /proc/net/sockstat; net.ipv4.udp_mem, tcp_mem; nstat -az UdpMemErrors"},
    {"PSP_INPUT", "its socket uses PSP encryption, and it came in clear or by another key: do both ends agree?"},
    {"PSP_OUTPUT",
     "its socket uses PSP encryption, and the device that it leaves by cannot do it; ip route get ADDRESS"},
    {"PTYPE_ABSENT", "no handler for its protocol: often LLDP, STP, or a VLAN without a device; tcpdump -e"},
    {"QDISC_BURST_DROP", "too many packets came to the qdisc at once from several CPUs; net.core.qdisc_max_burst"},
    {"QDISC_CONGESTED",
     "an AQM (codel, pie, red) slows its sender: the queue is a bottleneck; tc -s qdisc show dev DEV; ecn"},
    {"QDISC_DROP", "the queueing discipline was full, or drops on purpose; tc -s qdisc show dev DEV"},
    {"QDISC_OVERLIMIT", "the queueing discipline was full; tc -s qdisc show dev DEV; limit, memory_limit"},
    {"QUEUE_PURGE", "a queue was emptied: its socket, device or qdisc went away; the place shows which"},
    {"RECURSION_LIMIT", "it passed too many stacked devices: look for a loop; ip -d link"},
    {"SECURITY_HOOK", "a security module (SELinux, ...) refused it; ausearch -m avc, dmesg"},
    {"SKB_BAD_GSO", "a GSO packet whose sizes contradict each other: who made it (a guest, tun, a packet socket)?"},
    {"SKB_CSUM", "its checksum could not be computed; ethtool -k DEV; try without tx offloads"},
    {"SKB_GSO_SEG", "it could not be segmented; ethtool -k DEV; try without tso and gso"},
    {"SKB_UCOPY_FAULT", "the memory of the program that sends or reads could not be copied; strace it"},
    {"SOCKET_BACKLOG",
     "too many packets while a thread held the socket; nstat -az TcpExtTCPBacklogDrop; net.ipv4.tcp_rmem"},
    {"SOCKET_CLOSE", "a Unix socket was closed before it was read or accepted; ss -xp"},
    {"SOCKET_FILTER", "the program's own filter (BPF on the socket) refused it; ss -b; tcpdump has one, too"},
    {"SOCKET_RCVBUFF",
     "the receive buffer was full; nstat -az UdpRcvbufErrors; read faster, or SO_RCVBUF, net.core.rmem_max"},
    {"TAP_FILTER", "the BPF program on the tap (TUNSETFILTEREBPF) refused it"},
    {"TAP_TXFILTER", "the guest had not asked for that MAC address (TUNSETTXFILTER); ip -d link show DEV"},
    {"TCP_ABORT_ON_DATA", "data for a socket already closed: answered by a reset; nstat -az TcpExtTCPAbortOnData"},
    {"TCP_ACK_UNSENT_DATA", "acknowledges data that was never sent: a faulty peer or middlebox, or forged"},
    {"TCP_AOFAILURE", "wrong TCP-AO signature: unequal keys (BGP?); nstat -az TcpExtTCPAOBad"},
    {"TCP_AOKEYNOTFOUND", "signed by a TCP-AO key that is not configured here; nstat -az TcpExtTCPAOKeyNotFound"},
    {"TCP_AONOTFOUND", "no TCP-AO signature, but one is required; nstat -az TcpExtTCPAORequired"},
    {"TCP_AOUNEXPECTED", "a TCP-AO signature, but none is configured; nstat -az TcpExtTCPAOKeyNotFound"},
    {"TCP_AUTH_HDR", "malformed options of MD5 or TCP-AO, or both at once: a broken or forged peer; tcpdump -vv"},
    {"TCP_CLOSE", "for a connection already closed: a few are normal, many mean that the peer was reset"},
    {"TCP_CSUM", "wrong TCP checksum; nstat -az TcpInCsumErrors; ethtool -k DEV, ethtool -S DEV"},
    {"TCP_FASTOPEN", "refused by a Fast Open request; nstat -az TcpExtTCPFastOpen*"},
    {"TCP_FLAGS", "flags that fit no state: a scan, or a broken peer; tcpdump shows them"},
    {"TCP_INVALID_ACK_SEQUENCE", "acknowledges data that was not sent: a stale connection of the peer, or forged"},
    {"TCP_INVALID_END_SEQUENCE",
     "its data ends beyond the receive window: the peer or a middlebox ignores it; nstat -az TcpExtBeyondWindow"},
    {"TCP_INVALID_SEQUENCE", "outside the receive window: a stale connection, a middlebox, or forged; tcpdump"},
    {"TCP_INVALID_SYN", "a SYN inside a connection; nstat -az TcpExtTCPSYNChallenge; did the peer reboot?"},
    {"TCP_LISTEN_OVERFLOW",
     "the accept queue is full: the server accepts too slowly; ss -lnt (Recv-Q, Send-Q); net.core.somaxconn"},
    {"TCP_MD5FAILURE", "wrong MD5 signature: unequal keys (BGP?); nstat -az TcpExtTCPMD5Failure"},
    {"TCP_MD5NOTFOUND", "no MD5 signature, but one is required; nstat -az TcpExtTCPMD5NotFound"},
    {"TCP_MD5UNEXPECTED", "an MD5 signature, but none is configured; nstat -az TcpExtTCPMD5Unexpected"},
    {"TCP_MINTTL", "its sender is farther away than the socket allows (IP_MINTTL, used by BGP)"},
    {"TCP_OFOMERGE", "a duplicate, received while a gap was open: look for earlier loss; nstat -az TcpExtTCPOFOMerge"},
    {"TCP_OFO_DROP", "out of order, already read in another segment: no data is lost; look for earlier loss"},
    {"TCP_OFO_QUEUE_PRUNE", "out of order, discarded for lack of space; nstat -az TcpExtOfoPruned; net.ipv4.tcp_rmem"},
    {"TCP_OLD_ACK", "an ACK overtaken by a later one: reordering in the network; no data is lost"},
    {"TCP_OLD_DATA", "data received before: a needless retransmission; nstat -az TcpExtDelayedACKLost"},
    {"TCP_OLD_SEQUENCE", "nothing new in it: a late duplicate, or a keepalive probe; no data is lost"},
    {"TCP_OVERWINDOW", "data beyond the receive window: the peer or a middlebox ignores it; tcpdump"},
    {"TCP_RESET", "a reset with a wrong sequence number; nstat -az TcpExtTCPChallengeACK; stale or forged"},
    {"TCP_RFC7323_PAWS",
     "its timestamp is older than the last: several hosts behind one NAT?; nstat -az TcpExtPAWSEstab"},
    {"TCP_RFC7323_PAWS_ACK", "a late ACK with an old timestamp: reordering; nstat -az TcpExtPAWSOldAck"},
    {"TCP_RFC7323_TSECR",
     "echoes a timestamp that was never sent: a middlebox, or forged; nstat -az TcpExtTSEcrRejected"},
    {"TCP_RFC7323_TW_PAWS",
     "an old timestamp, for a connection in TIME_WAIT: a late duplicate, or hosts behind one NAT"},
    {"TCP_TOO_OLD_ACK", "acknowledges very old data; nstat -az TcpExtTCPChallengeACK"},
    {"TCP_ZEROWINDOW", "data while the window was 0: the program reads too slowly; nstat -az TcpExtTCPZeroWindowDrop"},
    {"TC_CHAIN_NOTFOUND", "a tc filter goes to a chain that does not exist; tc filter show dev DEV ingress"},
    {"TC_COOKIE_ERROR",
     "tc could not go on where the card's offload stopped: was the rule just changed?; tc -s filter show dev DEV"},
    {"TC_EGRESS", "a tc filter or BPF program refused it; tc -s filter show dev DEV egress"},
    {"TC_ERROR", "tc could not classify it: a chain that does not exist, or a loop of filters; tc filter show dev DEV"},
    {"TC_INGRESS", "a tc filter or BPF program refused it; tc -s filter show dev DEV ingress"},
    {"TC_RECLASSIFY_LOOP", "tc filters classify it in a loop; tc filter show dev DEV; look for 'reclassify'"},
    {"TUNNEL_TXINFO",
     "an 'external' tunnel device, and no route or tc filter named its tunnel; ip -d link show DEV; ip route"},
    {"UDP_CSUM", "wrong UDP checksum; nstat -az UdpInCsumErrors; ethtool -k DEV, ethtool -S DEV"},
    {"UNHANDLED_PROTO", "no handler for its protocol: often LLDP, STP, or a VLAN without a device; tcpdump -e"},
    {"UNICAST_IN_L2_MULTICAST",
     "an IP address of one host in a frame to many; net.ipv4.conf.DEV.drop_unicast_in_l2_multicast"},
    {"UNIX_DISCONNECT", "unread messages of a Unix socket whose peer closed or changed; ss -xp"},
    {"UNIX_SKIP_OOB", "an urgent byte (MSG_OOB) of a Unix socket that the reader skipped"},
    {"VXLAN_ENTRY_EXISTS", "its source is known elsewhere by a fixed entry; bridge fdb show dev DEV"},
    {"VXLAN_INVALID_HDR", "a VXLAN header with unknown flags; compare ip -d link show DEV at both ends"},
    {"VXLAN_NO_REMOTE", "the VXLAN device does not know where to send it; bridge fdb show dev DEV"},
    {"VXLAN_VNI_NOT_FOUND", "no VXLAN device has its VNI; ip -d link show type vxlan"},
    {"XDP", "an XDP program refused it (generic XDP; a driver's own gives no event); bpftool net"},
    {"XFRM_POLICY", "IPsec policy refused it; ip xfrm policy; /proc/net/xfrm_stat"},
    {"NOT_SPECIFIED", "not a network packet: a handled event of the Bluetooth controller", "hci_event_packet", true},
    {"NO_SOCKET", "an echo reply; a ping with a raw socket got its own copy", "icmp_rcv", true},
    {"NO_SOCKET", "an echo reply; a ping with a raw socket got its own copy", "icmpv6_rcv", true},
    {"NOT_SPECIFIED", "the socket was closed before its queue was read; ss -nap", "inet_sock_destruct"},
    {"QUEUE_PURGE", "the socket was closed before its queue was read; ss -nap", "inet_sock_destruct"},
    {"NOT_SPECIFIED", "freed by a driver, by some also after sending; ip -s link, ethtool -S DEV", "net_tx_action"},
    {"NOT_SPECIFIED", "NFQUEUE: no program listens, or its queue is full; /proc/net/netfilter/nfnetlink_queue",
     "nf_queue"},
    {"NO_SOCKET", "an echo reply; a ping with a raw socket got its own copy", "ping_rcv", true},
    {"NOT_SPECIFIED", "the FIN of a normally closed TCP connection", "sk_stream_kill_queues", true},
    {"QUEUE_PURGE", "the FIN of a normally closed TCP connection", "sk_stream_kill_queues", true},
    {"NOT_SPECIFIED", "a fragment of another packet; before Linux 6.2 also of a packet that was read, which is no loss",
     "skb_release_data"},
    {"NOT_SPECIFIED", "a capture (tcpdump): its buffer was full (-B); before Linux 4.7 also each captured packet",
     "tpacket_rcv"},
    {"NOT_SPECIFIED", "the socket was closed before its queue was read; ss -nuap", "udp_destruct_common"},
    {"NOT_SPECIFIED", "the socket was closed before its queue was read; ss -nuap", "udp_destruct_sock"},
    {"NOT_SPECIFIED", "not a network packet: a connect to a Unix socket where nobody listens", "unix_stream_connect",
     true},
    {"NOT_SPECIFIED", "not a network packet: data read from a Unix socket (Linux 2.6)", "unix_stream_recvmsg", true},
});

auto key(const DropAdvice& drop) {
    return std::tie(drop.function, drop.reason);
}

const DropAdvice* find(std::string_view function, std::string_view reason) {
    const auto wanted = std::tie(function, reason);
    const auto found = std::ranges::lower_bound(advices, wanted, {}, key);
    return found != advices.end() && key(*found) == wanted ? &*found : nullptr;
}

const DropAdvice* known_of(const table::Place& place, const table::Reason& of) {
    if (!of.name && of.number >= 0) return nullptr;
    const std::string_view reason = of.name ? std::string_view(*of.name) : unspecified;
    if (place.symbol && !place.symbol->empty()) {
        const std::string_view symbol = *place.symbol;
        if (const auto* here = find(symbol.substr(0, symbol.find('.')), reason)) return here;
    }
    return of.name ? find("", reason) : nullptr;
}

}  // namespace

DropAdvice advice_of(const table::Place& place, const table::Reason& reason) {
    const auto* found = known_of(place, reason);
    return found != nullptr ? *found : DropAdvice{};
}

std::span<const DropAdvice> known_drops() {
    return advices;
}

}  // namespace stapgen::kinds::drops
