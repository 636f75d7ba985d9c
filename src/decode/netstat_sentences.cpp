#include "decode/netstat_sentences.h"

#include <algorithm>
#include <span>

namespace stapgen::decode {

namespace {

struct Sentence {
    std::string_view text, group, counter;
};

// In the groups that another name stands for as well ("Ip6"), see sentences_of().
constexpr Sentence netstat_sentences[]{
    {"% total packets received", "Ip", "InReceives"},
    {"% with invalid headers", "Ip", "InHdrErrors"},
    {"% with packets too big", "Ip", "InTooBigErrors"},
    {"% incoming packets with no route", "Ip", "InNoRoutes"},
    {"% with invalid addresses", "Ip", "InAddrErrors"},
    {"% with unknown protocol", "Ip", "InUnknownProtos"},
    {"% with truncated packets", "Ip", "InTruncatedPkts"},
    {"% incoming packets discarded", "Ip", "InDiscards"},
    {"% incoming packets delivered", "Ip", "InDelivers"},
    {"% forwarded", "Ip", "ForwDatagrams"},
    {"% requests sent out", "Ip", "OutRequests"},
    {"% outgoing packets dropped", "Ip", "OutDiscards"},
    {"% dropped because of missing route", "Ip", "OutNoRoutes"},
    {"% fragments dropped after timeout", "Ip", "ReasmTimeout"},
    {"% reassemblies required", "Ip", "ReasmReqds"},
    {"% packets reassembled ok", "Ip", "ReasmOKs"},
    {"% packet reassembles failed", "Ip", "ReasmFails"},
    {"% packet reassemblies failed", "Ip", "ReasmFails"},
    {"% fragments received ok", "Ip", "FragOKs"},
    {"% outgoing packets fragmented ok", "Ip", "FragOKs"},
    {"% fragments failed", "Ip", "FragFails"},
    {"% outgoing packets failed fragmentation", "Ip", "FragFails"},
    {"% fragments created", "Ip", "FragCreates"},
    {"% incoming multicast packets", "Ip", "InMcastPkts"},
    {"% outgoing multicast packets", "Ip", "OutMcastPkts"},
    {"% ICMP messages received", "Icmp", "InMsgs"},
    {"% input ICMP message failed", "Icmp", "InErrors"},
    {"% ICMP messages sent", "Icmp", "OutMsgs"},
    {"% ICMP messages failed", "Icmp", "OutErrors"},
    {"% active connections openings", "Tcp", "ActiveOpens"},
    {"% active connection openings", "Tcp", "ActiveOpens"},
    {"% passive connection openings", "Tcp", "PassiveOpens"},
    {"% failed connection attempts", "Tcp", "AttemptFails"},
    {"% connection resets received", "Tcp", "EstabResets"},
    {"% connections established", "Tcp", "CurrEstab"},
    {"% segments received", "Tcp", "InSegs"},
    {"% segments send out", "Tcp", "OutSegs"},
    {"% segments sent out", "Tcp", "OutSegs"},
    {"% segments retransmited", "Tcp", "RetransSegs"},
    {"% segments retransmitted", "Tcp", "RetransSegs"},
    {"% bad segments received", "Tcp", "InErrs"},
    {"% resets sent", "Tcp", "OutRsts"},
    {"% packets received", "Udp", "InDatagrams"},
    {"% packets to unknown port received", "Udp", "NoPorts"},
    {"% packet receive errors", "Udp", "InErrors"},
    {"% packets sent", "Udp", "OutDatagrams"},
    {"% receive buffer errors", "Udp", "RcvbufErrors"},
    {"% send buffer errors", "Udp", "SndbufErrors"},
    {"% SYN cookies sent", "TcpExt", "SyncookiesSent"},
    {"% SYN cookies received", "TcpExt", "SyncookiesRecv"},
    {"% invalid SYN cookies received", "TcpExt", "SyncookiesFailed"},
    {"% resets received for embryonic SYN_RECV sockets", "TcpExt", "EmbryonicRsts"},
    {"% packets pruned from receive queue because of socket buffer overrun", "TcpExt", "PruneCalled"},
    {"% packets pruned from receive queue", "TcpExt", "RcvPruned"},
    {"% packets dropped from out-of-order queue because of socket buffer overrun", "TcpExt", "OfoPruned"},
    {"% ICMP packets dropped because they were out-of-window", "TcpExt", "OutOfWindowIcmps"},
    {"% ICMP packets dropped because socket was locked", "TcpExt", "LockDroppedIcmps"},
    {"% TCP sockets finished time wait in fast timer", "TcpExt", "TW"},
    {"% time wait sockets recycled by time stamp", "TcpExt", "TWRecycled"},
    {"% TCP sockets finished time wait in slow timer", "TcpExt", "TWKilled"},
    {"% passive connections rejected because of time stamp", "TcpExt", "PAWSPassive"},
    {"% active connections rejected because of time stamp", "TcpExt", "PAWSActive"},
    {"% packets rejects in established connections because of timestamp", "TcpExt", "PAWSEstab"},
    {"% packets rejected in established connections because of timestamp", "TcpExt", "PAWSEstab"},
    {"% delayed acks sent", "TcpExt", "DelayedACKs"},
    {"% delayed acks further delayed because of locked socket", "TcpExt", "DelayedACKLocked"},
    {"Quick ack mode was activated % times", "TcpExt", "DelayedACKLost"},
    {"% times the listen queue of a socket overflowed", "TcpExt", "ListenOverflows"},
    {"% SYNs to LISTEN sockets ignored", "TcpExt", "ListenDrops"},
    {"% SYNs to LISTEN sockets dropped", "TcpExt", "ListenDrops"},
    {"% packets directly queued to recvmsg prequeue", "TcpExt", "TCPPrequeued"},
    {"% packets directly received from backlog", "TcpExt", "TCPDirectCopyFromBacklog"},
    {"% bytes directly in process context from backlog", "TcpExt", "TCPDirectCopyFromBacklog"},
    {"% packets directly received from prequeue", "TcpExt", "TCPDirectCopyFromPrequeue"},
    {"% bytes directly received in process context from prequeue", "TcpExt", "TCPDirectCopyFromPrequeue"},
    {"% packets dropped from prequeue", "TcpExt", "TCPPrequeueDropped"},
    {"% packets header predicted", "TcpExt", "TCPHPHits"},
    {"% packet headers predicted", "TcpExt", "TCPHPHits"},
    {"% packets header predicted and directly queued to user", "TcpExt", "TCPHPHitsToUser"},
    {"% packet headers predicted and directly queued to user", "TcpExt", "TCPHPHitsToUser"},
    {"Ran % times out of system memory during packet sending", "TcpExt", "SockMallocOOM"},
    {"% acknowledgments not containing data received", "TcpExt", "TCPPureAcks"},
    {"% acknowledgments not containing data payload received", "TcpExt", "TCPPureAcks"},
    {"% predicted acknowledgments", "TcpExt", "TCPHPAcks"},
    {"% times recovered from packet loss due to fast retransmit", "TcpExt", "TCPRenoRecovery"},
    {"% times recovered from packet loss due to SACK data", "TcpExt", "TCPSackRecovery"},
    {"% times recovered from packet loss by selective acknowledgements", "TcpExt", "TCPSackRecovery"},
    {"% bad SACKs received", "TcpExt", "TCPSACKReneging"},
    {"% bad SACK blocks received", "TcpExt", "TCPSACKReneging"},
    {"Detected reordering % times using FACK", "TcpExt", "TCPFACKReorder"},
    {"Detected reordering % times using SACK", "TcpExt", "TCPSACKReorder"},
    {"Detected reordering % times using time stamp", "TcpExt", "TCPTSReorder"},
    {"Detected reordering % times using reno fast retransmit", "TcpExt", "TCPRenoReorder"},
    {"% congestion windows fully recovered", "TcpExt", "TCPFullUndo"},
    {"% congestion windows fully recovered without slow start", "TcpExt", "TCPFullUndo"},
    {"% congestion windows partially recovered using Hoe heuristic", "TcpExt", "TCPPartialUndo"},
    {"% congestion window recovered using DSACK", "TcpExt", "TCPDSACKUndo"},
    {"% congestion window recovered without slow start using DSACK", "TcpExt", "TCPDSACKUndo"},
    {"% congestion windows recovered without slow start by DSACK", "TcpExt", "TCPDSACKUndo"},
    {"% congestion windows recovered after partial ack", "TcpExt", "TCPLossUndo"},
    {"% congestion windows recovered without slow start after partial ack", "TcpExt", "TCPLossUndo"},
    {"% TCP data loss events", "TcpExt", "TCPLoss"},
    {"% retransmits lost", "TcpExt", "TCPLostRetransmit"},
    {"% timeouts after reno fast retransmit", "TcpExt", "TCPRenoFailures"},
    {"% timeouts after SACK recovery", "TcpExt", "TCPSackFailures"},
    {"% timeouts in loss state", "TcpExt", "TCPLossFailures"},
    {"% fast retransmits", "TcpExt", "TCPFastRetrans"},
    {"% forward retransmits", "TcpExt", "TCPForwardRetrans"},
    {"% retransmits in slow start", "TcpExt", "TCPSlowStartRetrans"},
    {"% other TCP timeouts", "TcpExt", "TCPTimeouts"},
    {"% reno fast retransmits failed", "TcpExt", "TCPRenoRecoveryFail"},
    {"% classic Reno fast retransmits failed", "TcpExt", "TCPRenoRecoveryFail"},
    {"% sack retransmits failed", "TcpExt", "TCPSackRecoveryFail"},
    {"% SACK retransmits failed", "TcpExt", "TCPSackRecoveryFail"},
    {"% times receiver scheduled too late for direct processing", "TcpExt", "TCPSchedulerFailed"},
    {"% packets collapsed in receive queue due to low socket buffer", "TcpExt", "TCPRcvCollapsed"},
    {"% DSACKs sent for old packets", "TcpExt", "TCPDSACKOldSent"},
    {"% DSACKs sent for out of order packets", "TcpExt", "TCPDSACKOfoSent"},
    {"% DSACKs received", "TcpExt", "TCPDSACKRecv"},
    {"% DSACKs for out of order packets received", "TcpExt", "TCPDSACKOfoRecv"},
    {"% connections reset due to unexpected SYN", "TcpExt", "TCPAbortOnSyn"},
    {"% connections reset due to unexpected data", "TcpExt", "TCPAbortOnData"},
    {"% connections reset due to early user close", "TcpExt", "TCPAbortOnClose"},
    {"% connections aborted due to memory pressure", "TcpExt", "TCPAbortOnMemory"},
    {"% connections aborted due to timeout", "TcpExt", "TCPAbortOnTimeout"},
    {"% connections aborted after user close in linger timeout", "TcpExt", "TCPAbortOnLinger"},
    {"% times unable to send RST due to no memory", "TcpExt", "TCPAbortFailed"},
    {"TCP ran low on memory % times", "TcpExt", "TCPMemoryPressures"},
};

struct IcmpSentence {
    std::string_view text, icmp, icmp6;
};

constexpr IcmpSentence icmp_sentences[]{
    {"destination unreachable", "DestUnreachs", "DestUnreachs"},
    {"timeout in transit", "TimeExcds", ""},
    {"time exceeded", "TimeExcds", ""},
    {"received ICMPv6 time exceeded", "", "TimeExcds"},
    {"sent ICMPv6 time exceeded", "", "TimeExcds"},
    {"wrong parameters", "ParmProbs", ""},
    {"parameter problem", "", "ParmProblems"},
    {"source quenchs", "SrcQuenchs", ""},
    {"source quenches", "SrcQuenchs", ""},
    {"source quench", "SrcQuenchs", ""},
    {"redirects", "Redirects", "Redirects"},
    {"redirect", "Redirects", "Redirects"},
    {"echo requests", "Echos", "Echos"},
    {"echo request", "Echos", "Echos"},
    {"echo replies", "EchoReps", "EchoReplies"},
    {"timestamp request", "Timestamps", ""},
    {"timestamp requests", "Timestamps", ""},
    {"timestamp reply", "TimestampReps", ""},
    {"timestamp replies", "TimestampReps", ""},
    {"address mask request", "AddrMasks", ""},
    {"address mask requests", "AddrMasks", ""},
    {"address mask replies", "AddrMaskReps", ""},
    {"packets too big", "", "PktTooBigs"},
    {"group member queries", "", "GroupMembQueries"},
    {"group member responses", "", "GroupMembResponses"},
    {"group member reductions", "", "GroupMembReductions"},
    {"router solicits", "", "RouterSolicits"},
    {"router advertisement", "", "RouterAdvertisements"},
    {"neighbour solicits", "", "NeighborSolicits"},
    {"neighbor solicits", "", "NeighborSolicits"},
    {"neighbour advertisement", "", "NeighborAdvertisements"},
    {"neighbor advertisements", "", "NeighborAdvertisements"},
};

/// The group whose sentences this one has.
std::string_view sentences_of(std::string_view group) {
    if (group == "Ip6") return "Ip";
    if (group == "Icmp6") return "Icmp";
    if (group == "Udp6" || group == "UdpLite" || group == "UdpLite6") return "Udp";
    return group;
}

}  // namespace

std::string netstat_counter(std::string_view group, std::string_view sentence) {
    const auto of = sentences_of(group);
    const auto found = std::ranges::find_if(netstat_sentences, [&](const Sentence& known) {
        return known.text == sentence && (of.empty() || known.group == of);
    });
    if (found == std::end(netstat_sentences)) return {};
    // The kernel's name differs there.
    const bool is_forwarded6 = group == "Ip6" && found->counter == "ForwDatagrams";
    return std::string(group.empty() ? found->group : group) + "." + (is_forwarded6 ? "Out" : "") +
           std::string(found->counter);
}

std::string_view netstat_icmp_counter(std::string_view group, std::string_view sentence) {
    const auto* const found = std::ranges::find(icmp_sentences, sentence, &IcmpSentence::text);
    if (found == std::end(icmp_sentences)) return {};
    return group == "Icmp6" ? found->icmp6 : found->icmp;
}

}  // namespace stapgen::decode
