// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "base/kernel.h"
#include "base/text.h"
#include "decode/counter_reader.h"

namespace stapgen::decode {

namespace {

constexpr std::size_t max_sentence_length = 120;

struct Sentence {
    std::array<std::string_view, 2> wordings;  ///< of one version or another
    std::string_view group, counter;
};

// Those of net-tools' statistics.c, 1.60 to 2.10. Groups that have another one's sentences: see sentences_of().
constexpr Sentence netstat_sentences[]{
    {{"% total packets received"}, "Ip", "InReceives"},
    {{"% with invalid headers"}, "Ip", "InHdrErrors"},
    {{"% with packets too big"}, "Ip", "InTooBigErrors"},
    {{"% incoming packets with no route"}, "Ip", "InNoRoutes"},
    {{"% with invalid addresses"}, "Ip", "InAddrErrors"},
    {{"% with unknown protocol"}, "Ip", "InUnknownProtos"},
    {{"% with truncated packets"}, "Ip", "InTruncatedPkts"},
    {{"% incoming packets discarded"}, "Ip", "InDiscards"},
    {{"% incoming packets delivered"}, "Ip", "InDelivers"},
    {{"% forwarded"}, "Ip", "ForwDatagrams"},
    {{"% requests sent out"}, "Ip", "OutRequests"},
    {{"% outgoing packets dropped"}, "Ip", "OutDiscards"},
    {{"% dropped because of missing route"}, "Ip", "OutNoRoutes"},
    {{"% fragments dropped after timeout"}, "Ip", "ReasmTimeout"},
    {{"% reassemblies required"}, "Ip", "ReasmReqds"},
    {{"% packets reassembled ok"}, "Ip", "ReasmOKs"},
    {{"% packet reassembles failed", "% packet reassemblies failed"}, "Ip", "ReasmFails"},
    {{"% fragments received ok", "% outgoing packets fragmented ok"}, "Ip", "FragOKs"},
    {{"% fragments failed", "% outgoing packets failed fragmentation"}, "Ip", "FragFails"},
    {{"% fragments created"}, "Ip", "FragCreates"},
    {{"% incoming multicast packets"}, "Ip", "InMcastPkts"},
    {{"% outgoing multicast packets"}, "Ip", "OutMcastPkts"},
    {{"% ICMP messages received"}, "Icmp", "InMsgs"},
    {{"% input ICMP message failed"}, "Icmp", "InErrors"},
    {{"% ICMP messages sent"}, "Icmp", "OutMsgs"},
    {{"% ICMP messages failed"}, "Icmp", "OutErrors"},
    {{"% active connections openings", "% active connection openings"}, "Tcp", "ActiveOpens"},
    {{"% passive connection openings"}, "Tcp", "PassiveOpens"},
    {{"% failed connection attempts"}, "Tcp", "AttemptFails"},
    {{"% connection resets received"}, "Tcp", "EstabResets"},
    {{"% connections established"}, "Tcp", "CurrEstab"},
    {{"% segments received"}, "Tcp", "InSegs"},
    {{"% segments send out", "% segments sent out"}, "Tcp", "OutSegs"},
    {{"% segments retransmited", "% segments retransmitted"}, "Tcp", "RetransSegs"},
    {{"% bad segments received"}, "Tcp", "InErrs"},
    {{"% resets sent"}, "Tcp", "OutRsts"},
    {{"% packets received"}, "Udp", "InDatagrams"},
    {{"% packets to unknown port received"}, "Udp", "NoPorts"},
    {{"% packet receive errors"}, "Udp", "InErrors"},
    {{"% packets sent"}, "Udp", "OutDatagrams"},
    {{"% receive buffer errors"}, "Udp", "RcvbufErrors"},
    {{"% send buffer errors"}, "Udp", "SndbufErrors"},
    {{"% SYN cookies sent"}, "TcpExt", "SyncookiesSent"},
    {{"% SYN cookies received"}, "TcpExt", "SyncookiesRecv"},
    {{"% invalid SYN cookies received"}, "TcpExt", "SyncookiesFailed"},
    {{"% resets received for embryonic SYN_RECV sockets"}, "TcpExt", "EmbryonicRsts"},
    {{"% packets pruned from receive queue because of socket buffer overrun"}, "TcpExt", "PruneCalled"},
    {{"% packets pruned from receive queue"}, "TcpExt", "RcvPruned"},
    {{"% packets dropped from out-of-order queue because of socket buffer overrun"}, "TcpExt", "OfoPruned"},
    {{"% ICMP packets dropped because they were out-of-window"}, "TcpExt", "OutOfWindowIcmps"},
    {{"% ICMP packets dropped because socket was locked"}, "TcpExt", "LockDroppedIcmps"},
    {{"% TCP sockets finished time wait in fast timer"}, "TcpExt", "TW"},
    {{"% time wait sockets recycled by time stamp"}, "TcpExt", "TWRecycled"},
    {{"% TCP sockets finished time wait in slow timer"}, "TcpExt", "TWKilled"},
    {{"% passive connections rejected because of time stamp"}, "TcpExt", "PAWSPassive"},
    {{"% active connections rejected because of time stamp"}, "TcpExt", "PAWSActive"},
    {{"% packets rejects in established connections because of timestamp"}, "TcpExt", "PAWSEstab"},
    {{"% packets rejected in established connections because of timestamp"}, "TcpExt", "PAWSEstab"},
    {{"% delayed acks sent"}, "TcpExt", "DelayedACKs"},
    {{"% delayed acks further delayed because of locked socket"}, "TcpExt", "DelayedACKLocked"},
    {{"Quick ack mode was activated % times"}, "TcpExt", "DelayedACKLost"},
    {{"% times the listen queue of a socket overflowed"}, "TcpExt", "ListenOverflows"},
    {{"% SYNs to LISTEN sockets ignored", "% SYNs to LISTEN sockets dropped"}, "TcpExt", "ListenDrops"},
    {{"% packets directly queued to recvmsg prequeue"}, "TcpExt", "TCPPrequeued"},
    {{"% packets directly received from backlog"}, "TcpExt", "TCPDirectCopyFromBacklog"},
    {{"% bytes directly in process context from backlog"}, "TcpExt", "TCPDirectCopyFromBacklog"},
    {{"% packets directly received from prequeue"}, "TcpExt", "TCPDirectCopyFromPrequeue"},
    {{"% bytes directly received in process context from prequeue"}, "TcpExt", "TCPDirectCopyFromPrequeue"},
    {{"% packets dropped from prequeue"}, "TcpExt", "TCPPrequeueDropped"},
    {{"% packets header predicted", "% packet headers predicted"}, "TcpExt", "TCPHPHits"},
    {{"% packets header predicted and directly queued to user"}, "TcpExt", "TCPHPHitsToUser"},
    {{"% packet headers predicted and directly queued to user"}, "TcpExt", "TCPHPHitsToUser"},
    {{"Ran % times out of system memory during packet sending"}, "TcpExt", "SockMallocOOM"},
    {{"% acknowledgments not containing data received"}, "TcpExt", "TCPPureAcks"},
    {{"% acknowledgments not containing data payload received"}, "TcpExt", "TCPPureAcks"},
    {{"% predicted acknowledgments"}, "TcpExt", "TCPHPAcks"},
    {{"% times recovered from packet loss due to fast retransmit"}, "TcpExt", "TCPRenoRecovery"},
    {{"% times recovered from packet loss due to SACK data"}, "TcpExt", "TCPSackRecovery"},
    {{"% times recovered from packet loss by selective acknowledgements"}, "TcpExt", "TCPSackRecovery"},
    {{"% bad SACKs received", "% bad SACK blocks received"}, "TcpExt", "TCPSACKReneging"},
    {{"Detected reordering % times using FACK"}, "TcpExt", "TCPFACKReorder"},
    {{"Detected reordering % times using SACK"}, "TcpExt", "TCPSACKReorder"},
    {{"Detected reordering % times using time stamp"}, "TcpExt", "TCPTSReorder"},
    {{"Detected reordering % times using reno fast retransmit"}, "TcpExt", "TCPRenoReorder"},
    {{"% congestion windows fully recovered"}, "TcpExt", "TCPFullUndo"},
    {{"% congestion windows fully recovered without slow start"}, "TcpExt", "TCPFullUndo"},
    {{"% congestion windows partially recovered using Hoe heuristic"}, "TcpExt", "TCPPartialUndo"},
    {{"% congestion window recovered using DSACK"}, "TcpExt", "TCPDSACKUndo"},
    {{"% congestion window recovered without slow start using DSACK"}, "TcpExt", "TCPDSACKUndo"},
    {{"% congestion windows recovered without slow start by DSACK"}, "TcpExt", "TCPDSACKUndo"},
    {{"% congestion windows recovered after partial ack"}, "TcpExt", "TCPLossUndo"},
    {{"% congestion windows recovered without slow start after partial ack"}, "TcpExt", "TCPLossUndo"},
    {{"% TCP data loss events"}, "TcpExt", "TCPLoss"},
    {{"% retransmits lost"}, "TcpExt", "TCPLostRetransmit"},
    {{"% timeouts after reno fast retransmit"}, "TcpExt", "TCPRenoFailures"},
    {{"% timeouts after SACK recovery"}, "TcpExt", "TCPSackFailures"},
    {{"% timeouts in loss state"}, "TcpExt", "TCPLossFailures"},
    {{"% fast retransmits"}, "TcpExt", "TCPFastRetrans"},
    {{"% forward retransmits"}, "TcpExt", "TCPForwardRetrans"},
    {{"% retransmits in slow start"}, "TcpExt", "TCPSlowStartRetrans"},
    {{"% other TCP timeouts"}, "TcpExt", "TCPTimeouts"},
    {{"% reno fast retransmits failed", "% classic Reno fast retransmits failed"}, "TcpExt", "TCPRenoRecoveryFail"},
    {{"% sack retransmits failed", "% SACK retransmits failed"}, "TcpExt", "TCPSackRecoveryFail"},
    {{"% times receiver scheduled too late for direct processing"}, "TcpExt", "TCPSchedulerFailed"},
    {{"% packets collapsed in receive queue due to low socket buffer"}, "TcpExt", "TCPRcvCollapsed"},
    {{"% DSACKs sent for old packets"}, "TcpExt", "TCPDSACKOldSent"},
    {{"% DSACKs sent for out of order packets"}, "TcpExt", "TCPDSACKOfoSent"},
    {{"% DSACKs received"}, "TcpExt", "TCPDSACKRecv"},
    {{"% DSACKs for out of order packets received"}, "TcpExt", "TCPDSACKOfoRecv"},
    {{"% connections reset due to unexpected SYN"}, "TcpExt", "TCPAbortOnSyn"},
    {{"% connections reset due to unexpected data"}, "TcpExt", "TCPAbortOnData"},
    {{"% connections reset due to early user close"}, "TcpExt", "TCPAbortOnClose"},
    {{"% connections aborted due to memory pressure"}, "TcpExt", "TCPAbortOnMemory"},
    {{"% connections aborted due to timeout"}, "TcpExt", "TCPAbortOnTimeout"},
    {{"% connections aborted after user close in linger timeout"}, "TcpExt", "TCPAbortOnLinger"},
    {{"% times unable to send RST due to no memory"}, "TcpExt", "TCPAbortFailed"},
    {{"TCP ran low on memory % times"}, "TcpExt", "TCPMemoryPressures"},
};

struct IcmpSentence {
    std::array<std::string_view, 3> wordings;
    std::string_view icmp, icmp6;
};

constexpr IcmpSentence icmp_sentences[]{
    {{"destination unreachable"}, "DestUnreachs", "DestUnreachs"},
    {{"timeout in transit", "time exceeded"}, "TimeExcds", ""},
    {{"received ICMPv6 time exceeded", "sent ICMPv6 time exceeded"}, "", "TimeExcds"},
    {{"wrong parameters"}, "ParmProbs", ""},
    {{"parameter problem"}, "", "ParmProblems"},
    {{"source quenchs", "source quenches", "source quench"}, "SrcQuenchs", ""},
    {{"redirects", "redirect"}, "Redirects", "Redirects"},
    {{"echo requests", "echo request"}, "Echos", "Echos"},
    {{"echo replies"}, "EchoReps", "EchoReplies"},
    {{"timestamp request", "timestamp requests"}, "Timestamps", ""},
    {{"timestamp reply", "timestamp replies"}, "TimestampReps", ""},
    {{"address mask request", "address mask requests"}, "AddrMasks", ""},
    {{"address mask replies"}, "AddrMaskReps", ""},
    {{"packets too big"}, "", "PktTooBigs"},
    {{"group member queries"}, "", "GroupMembQueries"},
    {{"group member responses"}, "", "GroupMembResponses"},
    {{"group member reductions"}, "", "GroupMembReductions"},
    {{"router solicits"}, "", "RouterSolicits"},
    {{"router advertisement"}, "", "RouterAdvertisements"},
    {{"neighbour solicits", "neighbor solicits"}, "", "NeighborSolicits"},
    {{"neighbour advertisement", "neighbor advertisements"}, "", "NeighborAdvertisements"},
};

/// The group whose sentences this one has.
std::string_view sentences_of(std::string_view group) {
    if (group == "Ip6") return "Ip";
    if (group == "Icmp6") return "Icmp";
    if (group == "Udp6" || group == "UdpLite" || group == "UdpLite6") return "Udp";
    return group;
}

bool is_one_of(std::span<const std::string_view> wordings, std::string_view sentence) {
    return !sentence.empty() && std::ranges::find(wordings, sentence) != wordings.end();
}

/// The counter of a sentence with '%' in the place of its number: "TcpExt.PruneCalled". `group` is the heading above
/// it, and empty where that is not known: then the first group that has the sentence. Empty if there is none.
std::string netstat_counter(std::string_view group, std::string_view sentence) {
    const auto of = sentences_of(group);
    const auto found = std::ranges::find_if(netstat_sentences, [&](const Sentence& known) {
        return is_one_of(known.wordings, sentence) && (of.empty() || known.group == of);
    });
    if (found == std::end(netstat_sentences)) return {};
    // The kernel's name differs there.
    const bool is_forwarded6 = group == "Ip6" && found->counter == "ForwDatagrams";
    return std::string(group.empty() ? found->group : group) + "." + (is_forwarded6 ? "Out" : "") +
           std::string(found->counter);
}

/// The same in a histogram of ICMP's, "destination unreachable": "DestUnreachs". `group` is Icmp or Icmp6.
std::string_view netstat_icmp_counter(std::string_view group, std::string_view sentence) {
    const auto* const found = std::ranges::find_if(
        icmp_sentences, [&](const IcmpSentence& known) { return is_one_of(known.wordings, sentence); });
    if (found == std::end(icmp_sentences)) return {};
    return group == "Icmp6" ? found->icmp6 : found->icmp;
}

/// "netstat -su", and no sentence that begins with the word.
bool is_netstat_command(const std::vector<std::string_view>& words) {
    return words.size() > 1 &&
           std::all_of(words.begin() + 1, words.end(), [](std::string_view word) { return word.starts_with('-'); });
}

/// What `netstat -s` prints (net-tools 1.60 to 2.10): sentences, of counters that it does not know their names. Whole,
/// or what grep left of it, then without the headings.
///     Udp:
///         225645 packets received
///         InCsumErrors: 319
///     TcpExt:
///         Quick ack mode was activated 641 times
class NetstatText final : public CounterReader {
  public:
    NetstatText() : CounterReader("netstat -s", true) {}

    bool line(const CounterText& text, CounterLine& out) override {
        const auto line = text.line;
        if (line.size() > max_sentence_length) return false;
        if (is_netstat_command(command_words(line, "netstat")) || heading(line, out)) return true;
        // What it prints of a setting.
        if (group_ == "Ip" && (line == "Forwarding is enabled" || line == "Forwarding is disabled")) return true;
        std::string sentence;
        std::string_view value;
        for (const auto word : text.words) {
            if (!sentence.empty()) sentence += ' ';
            const bool is_value = value.empty() && base::to_unsigned(word);
            if (is_value) value = word;
            sentence += is_value ? "%" : word;
        }
        if (value.empty()) return false;
        const auto name = name_of(sentence);
        if (!name) return false;
        if (seen_.empty()) group_ = name->substr(0, name->find('.'));
        if (base::is_counter(*name)) out.add(*name, of_namespace, value);
        return true;
    }

    void end_block() override {
        group_.clear();
        seen_.clear();
        direction_ = {};
    }

  private:
    bool heading(std::string_view line, CounterLine& out) {
        if (line == "ICMP input histogram:" || line == "ICMP output histogram:") {
            direction_ = line == "ICMP input histogram:" ? "In" : "Out";
            if (group_.empty()) group_ = "Icmp";
            return true;
        }
        if (!line.ends_with(':') || !base::is_counter_group(line.substr(0, line.size() - 1))) return false;
        direction_ = {};
        group_ = line.substr(0, line.size() - 1);
        if (!seen_.insert(group_).second) {
            seen_ = {group_};
            out.begins_sample = true;
        }
        return true;
    }

    /// Of a sentence with '%' in the place of its number; nothing if netstat prints no such one.
    std::optional<std::string> name_of(std::string_view sentence) const {
        if (sentence.ends_with(": %")) {
            const auto text = sentence.substr(0, sentence.size() - 3);
            if (!direction_.empty()) {
                const auto counter = netstat_icmp_counter(group_, text);
                if (!counter.empty()) return fmt::format("{}.{}{}", group_, direction_, counter);
            }
            if (!base::is_counter_name(text)) return std::nullopt;
            // Where a page has lost the headings, those of IcmpMsg follow Icmp's.
            const bool is_type = text.starts_with("InType") || text.starts_with("OutType");
            if (group_ == "Icmp" && is_type) return fmt::format("IcmpMsg.{}", text);
            if (seen_.empty()) {
                const bool is_tcps = text.starts_with("TCP") || text == "IPReversePathFilter";
                return is_tcps ? std::optional(fmt::format("TcpExt.{}", text)) : std::nullopt;
            }
            const auto name = text.starts_with(group_) && base::is_counter_name(text.substr(group_.size()))
                                  ? text.substr(group_.size())
                                  : text;
            return fmt::format("{}.{}", group_, name);
        }
        if (sentence.ends_with('.')) sentence.remove_suffix(1);
        auto name = netstat_counter(group_, sentence);
        // What grep left has no headings.
        if (name.empty() && seen_.empty()) name = netstat_counter({}, sentence);
        return name.empty() ? std::nullopt : std::optional(std::move(name));
    }

    std::string group_;           ///< of the last heading or sentence; empty: none
    std::set<std::string> seen_;  ///< headings of this sample
    std::string_view direction_;  ///< "In" or "Out": in a histogram of ICMP's; else empty
};

}  // namespace

const MakeCounterReader make_netstat_text = make_counter_reader<NetstatText>;

}  // namespace stapgen::decode
