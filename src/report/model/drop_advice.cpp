#include "report/model/drop_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/saturate.h"
#include "base/text.h"

namespace stapgen::report {

namespace {

using analyze::Drop;

constexpr std::string_view unspecified = "NOT_SPECIFIED";

/// Sorted by function and reason. Meanings: include/net/dropreason-core.h of Linux and the code at each place; counters
/// are spelled as nstat spells them. What may be the loss of a packet that somebody wanted is not benign.
constexpr std::array advices{
    KnownDrop{"", "BPF_CGROUP_EGRESS", false, "a BPF program of the sender's cgroup refused it; bpftool cgroup tree"},
    KnownDrop{"", "BRIDGE_INGRESS_STP_STATE", false, "its port of the bridge does not forward (STP); bridge -d link"},
    KnownDrop{"", "CPU_BACKLOG", false,
              "the CPU's input queue was full; /proc/net/softnet_stat, 2nd column; net.core.netdev_max_backlog, RPS"},
    KnownDrop{"", "DEV_HDR", false, "the header for the driver (virtio-net, tun) was wrong; look at who writes to it"},
    KnownDrop{"", "DEV_READY", false, "the device was not ready: down, or nobody reads its tap; ip -s link show DEV"},
    KnownDrop{"", "DUP_FRAG", false, "an IP fragment that overlaps or repeats another; nstat -az Ip*Reasm*"},
    KnownDrop{"", "FQ_BAND_LIMIT", false, "a band of the qdisc fq was full; tc -s qdisc show dev DEV; limit"},
    KnownDrop{"", "FQ_FLOW_LIMIT", false, "one flow had too many packets in the qdisc fq; tc -s qdisc; flow_limit"},
    KnownDrop{"", "FQ_HORIZON_LIMIT", false,
              "its departure time was too far ahead for the qdisc fq; tc -s qdisc; horizon"},
    KnownDrop{"", "FRAG_REASM_TIMEOUT", false,
              "other fragments of its packet never came; nstat -az IpReasmTimeout; mind the MTU"},
    KnownDrop{"", "FRAG_TOO_FAR", false, "fragments of one sender were too far out of order; net.ipv4.ipfrag_max_dist"},
    KnownDrop{"", "FULL_RING", false,
              "the reader of a tap or tun (a guest, a VPN) is too slow; ip -s link; txqueuelen"},
    KnownDrop{"", "HDR_TRUNC", false,
              "its headers are longer than the packet; find the sender or tunnel: tcpdump -e -vv"},
    KnownDrop{"", "ICMP_CSUM", false, "wrong ICMP checksum; nstat -az IcmpInCsumErrors; a device on the way"},
    KnownDrop{"", "INVALID_PROTO", false, "breaks the rules of its protocol, as an ICMP echo to a broadcast address"},
    KnownDrop{"", "IPV6DISABLED", false, "IPv6 is off on that device; sysctl net.ipv6.conf.DEV.disable_ipv6"},
    KnownDrop{"", "IPV6_NDISC_NS_OTHERHOST", false,
              "a neighbour solicitation for an address that is not ours: usual where multicast is flooded"},
    KnownDrop{"", "IP_CSUM", false,
              "wrong checksum of the IP header; nstat -az IpExtInCsumErrors; a device on the way"},
    KnownDrop{
        "", "IP_INADDRERRORS", false,
        "its destination is no host of ours; ip route get ADDRESS; net.ipv4.ip_forward; nstat -az IpInAddrErrors"},
    KnownDrop{"", "IP_INHDR", false, "a broken IP header, or its TTL was used up (a loop?); nstat -az IpInHdrErrors"},
    KnownDrop{"", "IP_INNOROUTES", false,
              "no route to its destination; ip route get ADDRESS; nstat -az IpExtInNoRoutes"},
    KnownDrop{"", "IP_LOCALNET", false, "an address of 127.0.0.0/8 from outside; net.ipv4.conf.DEV.route_localnet"},
    KnownDrop{"", "IP_LOCAL_SOURCE", false,
              "it came with an address of ours as source: a loop, or forged; accept_local"},
    KnownDrop{"", "IP_NOPROTO", false,
              "no handler for its IP protocol; nstat -az IpInUnknownProtos; a module not loaded?"},
    KnownDrop{"", "IP_OUTNOROUTES", false, "no route to send it by; ip route get ADDRESS; nstat -az IpOutNoRoutes"},
    KnownDrop{"", "IP_RPFILTER", false,
              "the way back to its source is another device; net.ipv4.conf.DEV.rp_filter; nstat -az "
              "TcpExtIPReversePathFilter"},
    KnownDrop{"", "LOCAL_MAC", false, "its source MAC address is our own: look for a loop; bridge -d link"},
    KnownDrop{"", "MACVLAN_BROADCAST_BACKLOG", false,
              "too many broadcasts for the queue of a macvlan; ip -d link show DEV; bcqueuelen"},
    KnownDrop{"", "MAC_INVALID_SOURCE", false, "its source MAC address is no valid one; tcpdump -e"},
    KnownDrop{"", "NEIGH_CREATEFAIL", false, "the ARP or ND table was full; dmesg; net.ipv4.neigh.default.gc_thresh3"},
    KnownDrop{"", "NEIGH_DEAD", false, "its ARP or ND entry was being removed: device or address just went away"},
    KnownDrop{"", "NEIGH_FAILED", false, "the next hop answered no ARP or ND; ip neigh; is it up, in that VLAN?"},
    KnownDrop{"", "NEIGH_QUEUEFULL", false, "too many waited for an ARP or ND answer; ip neigh; unres_qlen_bytes"},
    KnownDrop{"", "NETFILTER_DROP", false,
              "a firewall rule; the counters tell which: nft list ruleset, iptables -L -v -n"},
    KnownDrop{"", "NOMEM", false, "no memory for it; dmesg; vm.min_free_kbytes; /proc/net/sockstat"},
    KnownDrop{"", "NOT_SPECIFIED", false,
              "the kernel says no reason: only the place tells, in the source of that function"},
    KnownDrop{"", "NO_SOCKET", false,
              "nobody listens there, or the connection is gone; ss -lntup; nstat -az UdpNoPorts TcpOutRsts"},
    KnownDrop{"", "NO_TX_TARGET", false, "the VXLAN device does not know where to send it; bridge fdb show dev DEV"},
    KnownDrop{"", "OTHERHOST", false,
              "for another MAC address: a promiscuous device or a flooding switch; ip -d link, ip neigh"},
    KnownDrop{"", "PACKET_SOCK_ERROR", false,
              "lost by a capture (packet socket), not by the receiver; its buffer was full: tcpdump -B"},
    KnownDrop{"", "PFMEMALLOC", false,
              "it came in reserved memory, as the machine is short of it; dmesg; vm.min_free_kbytes"},
    KnownDrop{"", "PKT_TOO_BIG", false, "bigger than the MTU and not to be cut; tracepath ADDRESS; is ICMP filtered?"},
    KnownDrop{"", "PKT_TOO_SMALL", false, "shorter than its headers say; find the sender or tunnel: tcpdump -e -vv"},
    KnownDrop{"", "PROTO_MEM", false,
              "the protocol's memory limit; /proc/net/sockstat; net.ipv4.udp_mem, tcp_mem; nstat -az UdpMemErrors"},
    KnownDrop{"", "QDISC_DROP", false,
              "the queueing discipline was full, or drops on purpose; tc -s qdisc show dev DEV"},
    KnownDrop{"", "QUEUE_PURGE", false,
              "a queue was emptied with it inside: socket, device or qdisc went away; the place tells"},
    KnownDrop{"", "RECURSION_LIMIT", false,
              "it went through too many devices on top of each other: look for a loop; ip -d link"},
    KnownDrop{"", "SECURITY_HOOK", false, "a security module (SELinux, ...) refused it; ausearch -m avc, dmesg"},
    KnownDrop{"", "SKB_CSUM", false, "its checksum could not be made; ethtool -k DEV; try without tx offloads"},
    KnownDrop{"", "SKB_GSO_SEG", false, "it could not be cut into segments; ethtool -k DEV; try without tso and gso"},
    KnownDrop{"", "SKB_UCOPY_FAULT", false,
              "the memory of the program that sends or reads could not be copied; strace it"},
    KnownDrop{"", "SOCKET_BACKLOG", false,
              "too many came while a thread held the socket; nstat -az TcpExtTCPBacklogDrop; net.ipv4.tcp_rmem"},
    KnownDrop{"", "SOCKET_CLOSE", false, "a Unix socket was closed with it unread, or unaccepted; ss -xp"},
    KnownDrop{"", "SOCKET_FILTER", false,
              "the program's own filter (BPF on the socket) refused it; ss -b; tcpdump has one, too"},
    KnownDrop{"", "SOCKET_RCVBUFF", false,
              "the receive buffer was full; nstat -az UdpRcvbufErrors; read faster, or SO_RCVBUF, net.core.rmem_max"},
    KnownDrop{"", "TAP_FILTER", false, "the BPF program on the tap (TUNSETFILTEREBPF) refused it"},
    KnownDrop{"", "TAP_TXFILTER", false,
              "the guest had not asked for that MAC address (TUNSETTXFILTER); ip -d link show DEV"},
    KnownDrop{"", "TCP_ABORT_ON_DATA", false,
              "data for a socket already closed: answered by a reset; nstat -az TcpExtTCPAbortOnData"},
    KnownDrop{"", "TCP_ACK_UNSENT_DATA", false,
              "acknowledges data that was never sent: a peer or middlebox gone wrong, or forged"},
    KnownDrop{"", "TCP_CLOSE", false,
              "it came for a connection already closed: a few are usual, many are a reset peer"},
    KnownDrop{"", "TCP_CSUM", false, "wrong TCP checksum; nstat -az TcpInCsumErrors; ethtool -k DEV, ethtool -S DEV"},
    KnownDrop{"", "TCP_FASTOPEN", false, "refused by a Fast Open request; nstat -az TcpExtTCPFastOpen*"},
    KnownDrop{"", "TCP_FLAGS", false, "flags that fit no state: a scan, or a broken peer; tcpdump shows them"},
    KnownDrop{"", "TCP_INVALID_ACK_SEQUENCE", false,
              "acknowledges what was not sent: a stale connection of the peer, or forged"},
    KnownDrop{"", "TCP_INVALID_SEQUENCE", false,
              "outside the receive window: a stale connection, a middlebox, or forged; tcpdump"},
    KnownDrop{"", "TCP_INVALID_SYN", false,
              "a SYN inside a connection; nstat -az TcpExtTCPSYNChallenge; did the peer reboot?"},
    KnownDrop{"", "TCP_LISTEN_OVERFLOW", false,
              "the accept queue is full: the server accepts too slowly; ss -lnt (Recv-Q, Send-Q); net.core.somaxconn"},
    KnownDrop{"", "TCP_MD5FAILURE", false, "wrong MD5 signature: unequal keys (BGP?); nstat -az TcpExtTCPMD5Failure"},
    KnownDrop{"", "TCP_MD5NOTFOUND", false, "no MD5 signature where one is asked for; nstat -az TcpExtTCPMD5NotFound"},
    KnownDrop{"", "TCP_MD5UNEXPECTED", false, "an MD5 signature where none is set; nstat -az TcpExtTCPMD5Unexpected"},
    KnownDrop{"", "TCP_MINTTL", false, "came from farther away than the socket allows (IP_MINTTL, as BGP sets it)"},
    KnownDrop{"", "TCP_OFOMERGE", false,
              "came twice while a gap was open: look for loss before it; nstat -az TcpExtTCPOFOMerge"},
    KnownDrop{"", "TCP_OFO_DROP", false,
              "out of order, and read by now in another segment: no data is lost; look for loss before it"},
    KnownDrop{"", "TCP_OFO_QUEUE_PRUNE", false,
              "out of order, thrown away for want of room; nstat -az TcpExtOfoPruned; net.ipv4.tcp_rmem"},
    KnownDrop{"", "TCP_OLD_ACK", false,
              "an ACK that a later one has overtaken: reordering on the way; no data is lost"},
    KnownDrop{"", "TCP_OLD_DATA", false,
              "data that had arrived before: sent again without need; nstat -az TcpExtDelayedACKLost"},
    KnownDrop{"", "TCP_OLD_SEQUENCE", false,
              "nothing new in it: a late duplicate, or a keepalive probe; no data is lost"},
    KnownDrop{"", "TCP_OVERWINDOW", false,
              "data beyond the receive window: the peer or a middlebox ignores it; tcpdump"},
    KnownDrop{"", "TCP_RESET", false,
              "a reset with a wrong sequence number; nstat -az TcpExtTCPChallengeACK; stale or forged"},
    KnownDrop{"", "TCP_RFC7323_PAWS", false,
              "its timestamp is older than the last: several hosts behind one NAT?; nstat -az TcpExtPAWSEstab"},
    KnownDrop{"", "TCP_RFC7323_PAWS_ACK", false,
              "a late ACK with an old timestamp: reordering; nstat -az TcpExtPAWSOldAck"},
    KnownDrop{"", "TCP_TOO_OLD_ACK", false,
              "acknowledges what was acknowledged long ago; nstat -az TcpExtTCPChallengeACK"},
    KnownDrop{"", "TCP_ZEROWINDOW", false,
              "data while the window was 0: the program reads too slowly; nstat -az TcpExtTCPZeroWindowDrop"},
    KnownDrop{"", "TC_EGRESS", false, "a tc filter or BPF program refused it; tc -s filter show dev DEV egress"},
    KnownDrop{"", "TC_INGRESS", false, "a tc filter or BPF program refused it; tc -s filter show dev DEV ingress"},
    KnownDrop{"", "UDP_CSUM", false, "wrong UDP checksum; nstat -az UdpInCsumErrors; ethtool -k DEV, ethtool -S DEV"},
    KnownDrop{"", "UNHANDLED_PROTO", false,
              "nobody here speaks it: often LLDP, STP, or a VLAN without a device; tcpdump -e"},
    KnownDrop{"", "UNICAST_IN_L2_MULTICAST", false,
              "an IP address of one host in a frame to many; net.ipv4.conf.DEV.drop_unicast_in_l2_multicast"},
    KnownDrop{"", "UNIX_DISCONNECT", false,
              "unread messages of a Unix socket whose peer closed, or that got another peer; ss -xp"},
    KnownDrop{"", "UNIX_SKIP_OOB", false, "an urgent byte (MSG_OOB) of a Unix socket that the reader passed over"},
    KnownDrop{"", "VXLAN_ENTRY_EXISTS", false,
              "its source is known elsewhere by a fixed entry; bridge fdb show dev DEV"},
    KnownDrop{"", "VXLAN_INVALID_HDR", false,
              "a VXLAN header with unknown flags; compare ip -d link show DEV at both ends"},
    KnownDrop{"", "VXLAN_VNI_NOT_FOUND", false, "no VXLAN device has its VNI; ip -d link show type vxlan"},
    KnownDrop{"", "XDP", false, "an XDP program refused it (generic XDP; a driver's own gives no event); bpftool net"},
    KnownDrop{"", "XFRM_POLICY", false, "IPsec policy refused it; ip xfrm policy; /proc/net/xfrm_stat"},
    KnownDrop{"hci_event_packet", "NOT_SPECIFIED", true,
              "no packet of the network: an event of the Bluetooth controller, handled"},
    KnownDrop{"icmp_rcv", "NO_SOCKET", true, "an echo reply; a ping with a raw socket has had its own copy of it"},
    KnownDrop{"icmpv6_rcv", "NO_SOCKET", true, "an echo reply; a ping with a raw socket has had its own copy of it"},
    KnownDrop{"inet_sock_destruct", "NOT_SPECIFIED", false, "the socket was closed before its queue was read; ss -nap"},
    KnownDrop{"inet_sock_destruct", "QUEUE_PURGE", false, "the socket was closed before its queue was read; ss -nap"},
    KnownDrop{"net_tx_action", "NOT_SPECIFIED", false,
              "freed by a driver: some do so with packets that were sent; ip -s link, ethtool -S DEV"},
    KnownDrop{"ping_rcv", "NO_SOCKET", true, "an echo reply; a ping with a raw socket has had its own copy of it"},
    KnownDrop{"sk_stream_kill_queues", "NOT_SPECIFIED", true,
              "the FIN of a TCP connection that was closed in the normal way"},
    KnownDrop{"sk_stream_kill_queues", "QUEUE_PURGE", true,
              "the FIN of a TCP connection that was closed in the normal way"},
    KnownDrop{"skb_release_data", "NOT_SPECIFIED", false,
              "a fragment of another packet; before Linux 6.2 also of one that was read: then no loss"},
    KnownDrop{"tpacket_rcv", "NOT_SPECIFIED", false,
              "a capture (tcpdump): before Linux 4.7 also each packet that it got; later its buffer was full: -B"},
    KnownDrop{"udp_destruct_common", "NOT_SPECIFIED", false,
              "the socket was closed before its queue was read; ss -nuap"},
    KnownDrop{"udp_destruct_sock", "NOT_SPECIFIED", false, "the socket was closed before its queue was read; ss -nuap"},
    KnownDrop{"unix_stream_connect", "NOT_SPECIFIED", true,
              "no packet of the network: a connect to a Unix socket where nobody listens"},
    KnownDrop{"unix_stream_recvmsg", "NOT_SPECIFIED", true,
              "no packet of the network: data of a Unix socket that was read (Linux 2.6)"},
};

auto key(const KnownDrop& drop) {
    return std::tie(drop.function, drop.reason);
}

const KnownDrop* find(std::string_view function, std::string_view reason) {
    const auto wanted = std::tie(function, reason);
    const auto found = std::ranges::lower_bound(advices, wanted, {}, key);
    return found != advices.end() && key(*found) == wanted ? &*found : nullptr;
}

const KnownDrop* known_of(const Drop& drop) {
    if (!drop.reason_name && drop.reason >= 0) return nullptr;
    const std::string_view reason = drop.reason_name ? std::string_view(*drop.reason_name) : unspecified;
    if (drop.symbol && !drop.symbol->empty()) {
        const std::string_view symbol = *drop.symbol;
        if (const auto* here = find(symbol.substr(0, symbol.find('.')), reason)) return here;
    }
    return drop.reason_name ? find("", reason) : nullptr;
}

}  // namespace

DropAdvice advice_of(const Drop& drop) {
    const auto* found = known_of(drop);
    return found != nullptr ? DropAdvice{found->benign, found->text, found->function} : DropAdvice{};
}

std::span<const KnownDrop> known_drops() {
    return advices;
}

std::vector<GivenAdvice> advice_for(std::span<const Drop> drops) {
    std::vector<GivenAdvice> all;
    for (const auto& drop : drops) {
        const auto advice = advice_of(drop);
        if (advice.text.empty()) continue;
        auto given = std::ranges::find_if(all, [&](const GivenAdvice& other) {
            return other.advice.function == advice.function && other.reason == drop.reason_name;
        });
        if (given == all.end()) given = all.insert(given, {advice, drop.reason_name, 0});
        given->count = base::saturating_add(given->count, drop.count);
    }
    std::ranges::stable_sort(all, std::greater{}, &GivenAdvice::count);
    return all;
}

std::string subject_of(const GivenAdvice& given) {
    const std::string function(given.advice.function);
    if (!given.reason) return function;
    return function.empty() ? *given.reason : fmt::format("{} in {}", *given.reason, function);
}

ShownDrops shown_drops(std::span<const Drop> drops, bool hide_benign) {
    ShownDrops shown;
    for (const auto& drop : drops) {
        if (!hide_benign || !advice_of(drop).benign) {
            shown.rows.push_back(drop);
            continue;
        }
        shown.hidden = base::saturating_add(shown.hidden, drop.count);
        ++shown.hidden_rows;
    }
    return shown;
}

std::string total_text(std::span<const Drop> totals) {
    return fmt::format("total: {} drops at {}{}", analyze::sum_of(totals), totals.size(),
                       totals.size() == 1 ? " place" : " places and reasons");
}

std::string hidden_text(const ShownDrops& shown) {
    return fmt::format("{} drop{} at {} benign place{} not shown", shown.hidden, shown.hidden == 1 ? "" : "s",
                       shown.hidden_rows, shown.hidden_rows == 1 ? "" : "s");
}

}  // namespace stapgen::report
