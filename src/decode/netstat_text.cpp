// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/kernel.h"
#include "base/text.h"
#include "decode/counter_reader.h"

namespace stapgen::decode {

namespace {

constexpr std::size_t max_sentence_length = 120;

struct Sentences {
    std::string_view group, text;
};

// Sentences of `netstat -s` on BSD, macOS, HP-UX and AIX. Some of its sentences are net-tools', of other counters.
constexpr std::string_view bsd_headings =
    "ah arp carp divert esp etherip icmp icmp6 icmpv6 igmp ip ip6 ipcomp ipcomp6 ipip ipsec ipsec6 ipv6 mptcp pfkey "
    "pfsync pim pim6 raw raw6 rip6 sctp tcp udp";

// Those of net-tools' statistics.c, 1.60 to 2.10, "COUNTER=SENTENCE|", '%' in the place of the number; "Icmp:": those
// of its histograms. In no order. Groups that have another one's sentences: see sentences_of().
constexpr Sentences netstat_sentences[]{
    {"Ip",
     "FragFails=% outgoing packets failed fragmentation|OutNoRoutes=% dropped because of missing route|"
     "ReasmTimeout=% fragments dropped after timeout|InNoRoutes=% incoming packets with no route|"
     "OutMcastPkts=% outgoing multicast packets|InTruncatedPkts=% with truncated packets|FragFails=% fragments failed|"
     "FragOKs=% outgoing packets fragmented ok|InMcastPkts=% incoming multicast packets|ForwDatagrams=% forwarded|"
     "InUnknownProtos=% with unknown protocol|InDiscards=% incoming packets discarded|OutRequests=% requests sent out|"
     "InDelivers=% incoming packets delivered|ReasmFails=% packet reassemblies failed|FragOKs=% fragments received ok|"
     "OutDiscards=% outgoing packets dropped|ReasmFails=% packet reassembles failed|ReasmOKs=% packets reassembled ok|"
     "InTooBigErrors=% with packets too big|InAddrErrors=% with invalid addresses|InReceives=% total packets received|"
     "InHdrErrors=% with invalid headers|ReasmReqds=% reassemblies required|FragCreates=% fragments created|"},
    {"Ip6", "OutForwDatagrams=% forwarded|"},
    {"Icmp",
     "InErrors=% input ICMP message failed|OutErrors=% ICMP messages failed|InMsgs=% ICMP messages received|"
     "OutMsgs=% ICMP messages sent|"},
    {"Tcp",
     "PassiveOpens=% passive connection openings|ActiveOpens=% active connections openings|InSegs=% segments received|"
     "AttemptFails=% failed connection attempts|ActiveOpens=% active connection openings|OutSegs=% segments send out|"
     "EstabResets=% connection resets received|RetransSegs=% segments retransmitted|InErrs=% bad segments received|"
     "CurrEstab=% connections established|RetransSegs=% segments retransmited|OutSegs=% segments sent out|"
     "OutRsts=% resets sent|"},
    {"Udp",
     "NoPorts=% packets to unknown port received|RcvbufErrors=% receive buffer errors|InDatagrams=% packets received|"
     "SndbufErrors=% send buffer errors|InErrors=% packet receive errors|OutDatagrams=% packets sent|"},
    {"TcpExt",
     "OfoPruned=% packets dropped from out-of-order queue because of socket buffer overrun|"
     "TCPDirectCopyFromPrequeue=% bytes directly received in process context from prequeue|"
     "PruneCalled=% packets pruned from receive queue because of socket buffer overrun|TCPLoss=% TCP data loss events|"
     "TCPSackRecovery=% times recovered from packet loss by selective acknowledgements|TCPDSACKRecv=% DSACKs received|"
     "TCPLossUndo=% congestion windows recovered without slow start after partial ack|DelayedACKs=% delayed acks sent|"
     "TCPRcvCollapsed=% packets collapsed in receive queue due to low socket buffer|SyncookiesSent=% SYN cookies sent|"
     "PAWSEstab=% packets rejected in established connections because of timestamp|TCPFastRetrans=% fast retransmits|"
     "TCPSchedulerFailed=% times receiver scheduled too late for direct processing|TCPTimeouts=% other TCP timeouts|"
     "PAWSEstab=% packets rejects in established connections because of timestamp|"
     "TCPPartialUndo=% congestion windows partially recovered using Hoe heuristic|"
     "TCPDirectCopyFromBacklog=% bytes directly in process context from backlog|SyncookiesRecv=% SYN cookies received|"
     "TCPRenoRecovery=% times recovered from packet loss due to fast retransmit|TCPHPAcks=% predicted acknowledgments|"
     "TCPDSACKUndo=% congestion window recovered without slow start using DSACK|TCPHPHits=% packets header predicted|"
     "TCPAbortOnLinger=% connections aborted after user close in linger timeout|TCPHPHits=% packet headers predicted|"
     "DelayedACKLocked=% delayed acks further delayed because of locked socket|TCPSACKReneging=% bad SACKs received|"
     "OutOfWindowIcmps=% ICMP packets dropped because they were out-of-window|TCPForwardRetrans=% forward retransmits|"
     "TCPDSACKUndo=% congestion windows recovered without slow start by DSACK|TCPLostRetransmit=% retransmits lost|"
     "TCPHPHitsToUser=% packets header predicted and directly queued to user|TCPLossFailures=% timeouts in loss state|"
     "TCPHPHitsToUser=% packet headers predicted and directly queued to user|"
     "TCPRenoReorder=Detected reordering % times using reno fast retransmit|"
     "SockMallocOOM=Ran % times out of system memory during packet sending|TCPSACKReneging=% bad SACK blocks received|"
     "TCPDirectCopyFromPrequeue=% packets directly received from prequeue|"
     "TCPSackRecovery=% times recovered from packet loss due to SACK data|"
     "TCPFullUndo=% congestion windows fully recovered without slow start|"
     "TCPPureAcks=% acknowledgments not containing data payload received|ListenDrops=% SYNs to LISTEN sockets ignored|"
     "LockDroppedIcmps=% ICMP packets dropped because socket was locked|RcvPruned=% packets pruned from receive queue|"
     "TCPDirectCopyFromBacklog=% packets directly received from backlog|TCPSackRecoveryFail=% sack retransmits failed|"
     "PAWSPassive=% passive connections rejected because of time stamp|TCPSackFailures=% timeouts after SACK recovery|"
     "ListenOverflows=% times the listen queue of a socket overflowed|SyncookiesFailed=% invalid SYN cookies received|"
     "EmbryonicRsts=% resets received for embryonic SYN_RECV sockets|TCPFullUndo=% congestion windows fully recovered|"
     "PAWSActive=% active connections rejected because of time stamp|TCPMemoryPressures=TCP ran low on memory % times|"
     "TCPAbortOnMemory=% connections aborted due to memory pressure|TW=% TCP sockets finished time wait in fast timer|"
     "TCPLossUndo=% congestion windows recovered after partial ack|TCPPrequeueDropped=% packets dropped from prequeue|"
     "TCPAbortOnClose=% connections reset due to early user close|DelayedACKLost=Quick ack mode was activated % times|"
     "TCPPrequeued=% packets directly queued to recvmsg prequeue|TCPRenoRecoveryFail=% reno fast retransmits failed|"
     "TCPPureAcks=% acknowledgments not containing data received|TCPSlowStartRetrans=% retransmits in slow start|"
     "TCPRenoRecoveryFail=% classic Reno fast retransmits failed|TCPSackRecoveryFail=% SACK retransmits failed|"
     "TCPDSACKOfoRecv=% DSACKs for out of order packets received|TCPDSACKOldSent=% DSACKs sent for old packets|"
     "TCPAbortFailed=% times unable to send RST due to no memory|ListenDrops=% SYNs to LISTEN sockets dropped|"
     "TCPTSReorder=Detected reordering % times using time stamp|TWRecycled=% time wait sockets recycled by time stamp|"
     "TCPAbortOnData=% connections reset due to unexpected data|TCPFACKReorder=Detected reordering % times using FACK|"
     "TWKilled=% TCP sockets finished time wait in slow timer|TCPAbortOnSyn=% connections reset due to unexpected SYN|"
     "TCPDSACKUndo=% congestion window recovered using DSACK|TCPDSACKOfoSent=% DSACKs sent for out of order packets|"
     "TCPAbortOnTimeout=% connections aborted due to timeout|TCPSACKReorder=Detected reordering % times using SACK|"
     "TCPRenoFailures=% timeouts after reno fast retransmit|"},
    {"Icmp:",
     "DestUnreachs=destination unreachable|AddrMaskReps=address mask replies|TimestampReps=timestamp replies|"
     "AddrMasks=address mask requests|AddrMasks=address mask request|Timestamps=timestamp requests|Redirects=redirect|"
     "TimestampReps=timestamp reply|TimeExcds=timeout in transit|Timestamps=timestamp request|TimeExcds=time exceeded|"
     "ParmProbs=wrong parameters|SrcQuenchs=source quenches|SrcQuenchs=source quenchs|SrcQuenchs=source quench|"
     "EchoReps=echo replies|Redirects=redirects|Echos=echo requests|Echos=echo request|"},
    {"Icmp6:",
     "NeighborAdvertisements=neighbour advertisement|NeighborAdvertisements=neighbor advertisements|"
     "GroupMembReductions=group member reductions|GroupMembResponses=group member responses|EchoReplies=echo replies|"
     "RouterAdvertisements=router advertisement|TimeExcds=received ICMPv6 time exceeded|PktTooBigs=packets too big|"
     "GroupMembQueries=group member queries|DestUnreachs=destination unreachable|TimeExcds=sent ICMPv6 time exceeded|"
     "NeighborSolicits=neighbour solicits|NeighborSolicits=neighbor solicits|ParmProblems=parameter problem|"
     "RouterSolicits=router solicits|Redirects=redirects|Echos=echo requests|Redirects=redirect|Echos=echo request|"}};

/// The group whose sentences this one has, too.
std::string_view sentences_of(std::string_view group) {
    if (group == "Ip6") return "Ip";
    if (group == "Icmp6") return "Icmp";
    if (group == "Udp6" || group == "UdpLite" || group == "UdpLite6") return "Udp";
    return group;
}

/// The name of a sentence among those of `text`; empty: it is none of them.
std::string_view name_in(std::string_view text, std::string_view sentence) {
    const auto at = text.find(fmt::format("={}|", sentence));
    if (at == text.npos) return {};
    const auto begin = text.rfind('|', at) + 1;  // npos + 1 is 0
    return text.substr(begin, at - begin);
}

/// The same among those of one group of the table.
std::string_view name_of(std::string_view group, std::string_view sentence) {
    const auto* const of = std::ranges::find(netstat_sentences, group, &Sentences::group);
    return of == std::end(netstat_sentences) ? "" : name_in(of->text, sentence);
}

/// The counter of a line that names it: "InCsumErrors: 319".
std::optional<std::string> named_counter(std::string_view text, const CounterBlock& block) {
    const auto& group = block.group;
    const auto name = block.direction.empty() ? "" : name_of(group + ":", text);
    if (!name.empty()) return fmt::format("{}.{}{}", group, block.direction, name);
    if (!base::is_counter_name(text)) return std::nullopt;
    // Where a page has lost the headings, those of IcmpMsg follow Icmp's.
    const bool is_type = text.starts_with("InType") || text.starts_with("OutType");
    if (group == "Icmp" && is_type) return fmt::format("IcmpMsg.{}", text);
    if (block.seen.empty()) {
        const bool is_tcps = text.starts_with("TCP") || text == "IPReversePathFilter";
        return is_tcps ? std::optional(fmt::format("TcpExt.{}", text)) : std::nullopt;
    }
    const bool has_group = text.starts_with(group) && base::is_counter_name(text.substr(group.size()));
    return fmt::format("{}.{}", group, has_group ? text.substr(group.size()) : text);
}

}  // namespace

bool read_netstat_heading(std::string_view heading, CounterBlock& block) {
    if (heading == "ICMP input histogram" || heading == "ICMP output histogram") {
        block.direction = heading == "ICMP input histogram" ? "In" : "Out";
        if (block.group.empty()) block.group = "Icmp";
        return true;
    }
    const bool is_of_bsd = base::contains_word(bsd_headings, heading);
    if (!is_of_bsd && !base::is_counter_group(heading)) return false;
    block.direction = {};
    block.group = heading;
    block.is_of_bsd = is_of_bsd;
    if (block.seen.insert(block.group).second) return true;
    block.seen = {block.group};
    block.number = 0;
    return block.is_announced = block.is_headed = block.begins_anew = true;
}

std::optional<std::string> netstat_counter(std::string_view sentence, const CounterBlock& block) {
    if (sentence.size() > max_sentence_length || block.is_of_bsd) return std::nullopt;
    if (sentence.ends_with(": %")) return named_counter(sentence.substr(0, sentence.size() - 3), block);
    if (sentence.ends_with('.')) sentence.remove_suffix(1);
    for (const auto group : {std::string_view(block.group), sentences_of(block.group)}) {
        const auto name = name_of(group, sentence);
        if (!name.empty()) return fmt::format("{}.{}", block.group, name);
    }
    // The lines that grep left have no headings.
    for (const auto& [group, text] : netstat_sentences) {
        const auto name = block.seen.empty() ? name_in(text, sentence) : "";
        if (!name.empty()) return fmt::format("{}.{}", group, name);
    }
    return std::nullopt;
}

}  // namespace stapgen::decode
