// SPDX-License-Identifier: GPL-2.0-or-later
// Where was lost what TCP sends again: tapsets/c/resent.h.
#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "world.h"

// world.h is before it: it has what the C is made of.
#include "c/resent.h"

namespace {

enum { FIN = 1, SYN = 2, RST = 4, ACK = 16 };
constexpr unsigned long packet_socket = 0xffffffff81a00101;
constexpr unsigned long netfilter = 0xffffffff81a00011, qdisc = 0xffffffff81a00031, tcp_receive = 0xffffffff81a00051;

}  // namespace

void shim_name_function(char* name, size_t size, unsigned long address) {
    std::snprintf(name, size, "%s+0x11",
                  address == packet_socket - 1 ? "tpacket_rcv"
                  : address == tcp_receive - 1 ? "tcp_v4_rcv"
                                               : "nf_hook_slow");
}

namespace {

/// 10.0.0.1:4001 sends to 10.0.0.2:11211.
struct Sender {
    Socket socket;
    const void* fault = nullptr;
    std::vector<std::unique_ptr<Packet>> packets;
    bool is_ip6 = false;

    explicit Sender(u16 port = 4001) {
        auto& common = socket.sk()->__sk_common;
        common.skc_family = AF_INET;
        common.skc_rcv_saddr = htonl(0x0a000001);
        common.skc_daddr = htonl(0x0a000002);
        common.skc_num = port;
        common.skc_dport = htons(11211);
    }
    /// A segment as it is sent, or, from afar, as it comes: from this host or the other one.
    Packet& segment(u32 seq, u32 bytes, u8 flags = ACK) {
        auto& packet =
            *packets.emplace_back(std::make_unique<Packet>(true, bytes, seq, socket.sk()->__sk_common.skc_num, 11211));
        packet.bytes[49] = flags;
        packet.put16(18, u16(packet.skb.len));
        packet.skb.sk = socket.sk();
        return packet;
    }
    /// The connection is one of IPv6.
    void becomes_ip6() {
        auto& common = socket.sk()->__sk_common;
        common.skc_family = AF_INET6;
        set_address(&common.skc_v6_rcv_saddr, 1);
        set_address(&common.skc_v6_daddr, 2);
        is_ip6 = true;
    }
    /// As it comes by a device: its IP header is 20 bytes longer than IPv4's.
    Packet& segment_of_ip6(u32 seq, u32 bytes) {
        auto& packet = segment(seq, bytes);
        std::copy_n(packet.bytes + 36, 20, packet.bytes + 56);
        std::fill_n(packet.bytes + 16, 40, 0);
        packet.bytes[16] = 0x60;
        packet.put16(20, u16(20 + bytes));
        packet.bytes[22] = IPPROTO_TCP;
        packet.bytes[39] = 1;
        packet.bytes[55] = 2;
        packet.skb.transport_header = 56;
        packet.skb.len += 20;
        packet.skb.sk = nullptr;
        packet.skb.skb_iif = 3;
        return packet;
    }
    void drops(Packet& packet, unsigned long location, long reason = 7) {
        stapgen_tcp_drops(&packet.skb, location, reason, &fault);
        REQUIRE(fault == nullptr);
    }
    void drops_orphan(u32 seq, u32 bytes, unsigned long location, long reason = 7, u8 flags = ACK) {
        auto& packet = segment(seq, bytes, flags);
        packet.skb.sk = nullptr;
        packet.skb.skb_iif = 3;
        if (is_ip6) put_ip6(packet, false);
        drops(packet, location, reason);
    }
    static void set_address(void* to, u8 last) {
        u8 address[16] = {};
        address[15] = last;
        std::memcpy(to, address, sizeof address);
    }
    /// IPv6's header in the place of IPv4's, of a packet from this host or to it.
    static void put_ip6(Packet& packet, bool is_to_here) {
        std::memmove(packet.bytes + 56, packet.bytes + 36, 60);
        std::memset(packet.bytes + 16, 0, 40);
        packet.bytes[16] = 0x60;
        packet.put16(20, u16(packet.skb.len - 20));
        packet.bytes[22] = IPPROTO_TCP;
        set_address(packet.bytes + 24, is_to_here ? 2 : 1);
        set_address(packet.bytes + 40, is_to_here ? 1 : 2);
        packet.skb.protocol = htons(ETH_P_IPV6);
        packet.skb.transport_header = 56;
        packet.skb.len += 20;
    }
    /// The other end acknowledges up to there, and that is dropped here.
    void drops_ack(u32 ack, unsigned long location, u8 flags = ACK) {
        auto& packet =
            *packets.emplace_back(std::make_unique<Packet>(true, 0, 5, 11211, socket.sk()->__sk_common.skc_num));
        std::swap_ranges(packet.bytes + 28, packet.bytes + 32, packet.bytes + 32);
        packet.put32(44, ack);
        packet.bytes[49] = flags;
        packet.put16(18, u16(packet.skb.len));
        packet.skb.skb_iif = 3;
        if (is_ip6) put_ip6(packet, true);
        drops(packet, location);
    }
    /// It is sent again, N segments in one; the skb was last sent then.
    void resends(u32 seq, u32 bytes, s64 sent, int n = 1) {
        auto& packet = segment(seq, bytes);
        packet.skb.skb_mstamp_ns = u64(sent);
        auto& cb = const_cast<tcp_skb_cb&>(*TCP_SKB_CB(&packet.skb));
        cb.tcp_gso_segs = u16(n);
        cb.tcp_gso_size = u16(bytes / u32(n));
        stapgen_begins_to_resend(&packet.skb, &fault);
        for (int i = 0; i < n; i++)
            REQUIRE(stapgen_note_resent(socket.sk(), &packet.skb, i, n, "fast", "b", "", &fault));
        REQUIRE(fault == nullptr);
    }
    void sacks(u32 ack, std::vector<std::pair<u32, u32>> blocks) {
        auto& packet = segment(0, 0);
        packet.bytes[57] = u8(2 + 8 * blocks.size());
        int at = 58;
        for (const auto& [from, to] : blocks)
            packet.put32(at, from), packet.put32(at + 4, to), at += 8;
        auto& cb = const_cast<tcp_skb_cb&>(*TCP_SKB_CB(&packet.skb));
        cb.sacked = 20;
        cb.ack_seq = ack;
        stapgen_tcp_sacks(socket.sk(), &packet.skb, &fault);
        REQUIRE(fault == nullptr);
    }
};

/// All that waits to be counted: "WHERE SEQ" of each, in the order in which it was sent again.
std::vector<std::string> counted() {
    std::vector<std::string> all;
    while (const auto* of = stapgen_pop_resent(shim_time))
        all.push_back(std::string(stapgen_where_names[of->where]) + " " + std::to_string(of->seq));
    return all;
}
using Counted = std::vector<std::string>;

}  // namespace

TEST_CASE("a segment is lost where its bytes were dropped since it was sent last") {
    Sender sender, other(4003);
    const s64 first = shim_now();
    sender.drops(sender.segment(1000, 101), netfilter);
    other.drops(other.segment(1000, 101), qdisc);
    const s64 second = shim_now();
    sender.resends(1000, 101, first);
    const auto* of = stapgen_pop_resent(shim_time);
    REQUIRE(of != nullptr);
    CHECK(of->where == STAPGEN_WHERE_lost_here);
    CHECK(of->location == netfilter);
    CHECK(of->reason == 7);
    CHECK(std::string(of->cause) == "fast");
    // Again: what was sent the second time was not dropped here.
    sender.resends(1000, 101, second);
    // Its neighbour neither.
    sender.resends(1101, 101, first);
    CHECK(counted() == Counted{"not-here 1000", "not-here 1101"});
}

TEST_CASE("behind its device, and on the other side of a pair of namespaces, addresses and sequence numbers say it") {
    Sender sender;
    const s64 sent = shim_now();
    sender.drops_orphan(5000, 1009, qdisc);
    sender.resends(4900, 101, sent);
    sender.resends(5900, 1009, sent);
    sender.resends(6009, 17, sent);
    CHECK(counted() == Counted{"lost-here 4900", "lost-here 5900", "not-here 6009"});
}

TEST_CASE("of IPv6 each byte of a segment that was dropped is lost") {
    Sender sender;
    sender.becomes_ip6();
    const s64 sent = shim_now();
    sender.drops(sender.segment_of_ip6(1000, 17), qdisc);
    sender.drops(sender.segment_of_ip6(2000, 101), qdisc);
    // A link that pads short frames.
    auto& padded = sender.segment_of_ip6(3000, 5);
    padded.skb.len += 13;
    sender.drops(padded, qdisc);
    for (const u32 seq : {1000, 1016, 1017, 2000, 2100, 2101, 3004, 3005})
        sender.resends(seq, 1, sent);
    CHECK(counted() == Counted{"lost-here 1000", "lost-here 1016", "not-here 1017", "lost-here 2000", "lost-here 2100",
                               "not-here 2101", "lost-here 3004", "not-here 3005"});
}

TEST_CASE("of segments that are sent again in one each is looked at by itself") {
    Sender sender;
    const s64 sent = shim_now();
    sender.drops(sender.segment(1101, 101), qdisc);
    sender.resends(1000, 505, sent, 5);
    CHECK(counted() == Counted{"not-here 1000", "lost-here 1101", "not-here 1202", "not-here 1303", "not-here 1404"});
}

TEST_CASE("where bytes arrived and their acknowledgment was dropped here, that is said, bytes go before it") {
    Sender sender;
    const s64 sent = shim_now();
    sender.drops_ack(1101, netfilter);
    sender.resends(1000, 101, sent);
    sender.resends(1101, 101, sent);
    CHECK(counted() == Counted{"ack-lost-here 1000", "not-here 1101"});
    sender.drops(sender.segment(1000, 101), qdisc);
    sender.drops_ack(1101, netfilter);
    sender.resends(1000, 101, sent);
    CHECK(counted() == Counted{"lost-here 1000"});
}

TEST_CASE("a SYN whose SYN-ACKs are dropped here has arrived each time, though the listener discards its copies") {
    for (const bool is_ip6 : {false, true}) {
        Sender sender;
        if (is_ip6) sender.becomes_ip6();
        s64 sent = shim_now();
        // The first one is answered, and the answer is dropped.
        sender.drops_ack(1001, netfilter, SYN | ACK);
        for (int i = 0; i < 5; i++) {
            sender.resends(1000, 1, sent);
            sent = shim_now();
            // Before the copy is discarded it is answered.
            sender.drops_ack(1001, netfilter, SYN | ACK);
            sender.drops_orphan(1000, 0, tcp_receive, SKB_DROP_REASON_NOT_SPECIFIED, SYN);
        }
        CHECK(counted() == Counted(5, "ack-lost-here 1000"));
        // What TCP drops for another reason is lost, and so is data, as behind a full accept queue.
        sender.drops_orphan(2000, 0, tcp_receive, SKB_DROP_REASON_TCP_CSUM, SYN);
        sender.resends(2000, 1, sent);
        sender.drops_orphan(3000, 101, tcp_receive, SKB_DROP_REASON_NOT_SPECIFIED);
        sender.resends(3000, 101, sent);
        CHECK(counted() == Counted{"lost-here 2000", "lost-here 3000"});
    }
}

TEST_CASE("a SYN that is dropped in another namespace is of the socket that sent it, and so is an answer") {
    for (const bool is_ip6 : {false, true}) {
        Sender sender;
        if (is_ip6) sender.becomes_ip6();
        auto* sk = sender.socket.sk();
        sender.socket.tcp.snd_una = 7001;
        const auto connection = stapgen_connection_of_socket(sk, &sender.fault);
        auto drop = [&](Packet& packet, bool is_to_here, unsigned long location, long reason = 7) {
            packet.skb.sk = nullptr;
            packet.skb.skb_iif = 3;
            if (is_ip6) Sender::put_ip6(packet, is_to_here);
            return stapgen_dropped_connecting(&packet.skb, location, reason, &sender.fault);
        };
        auto answer = [&](u32 ack, u8 flags) -> Packet& {
            auto& packet = *sender.packets.emplace_back(std::make_unique<Packet>(true, 0, 5, 11211, 4001));
            std::swap_ranges(packet.bytes + 28, packet.bytes + 32, packet.bytes + 32);
            packet.put32(44, ack);
            packet.bytes[49] = flags;
            return packet;
        };
        auto& syn = sender.segment(7001, 0, SYN);
        CHECK(drop(syn, false, netfilter) == connection);
        CHECK(stapgen_is_of_connecting(&syn.skb, sk, &sender.fault) == STAPGEN_ITS_SYN);
        auto& others = sender.segment(7013, 0, SYN);
        CHECK(drop(others, false, netfilter) == connection);
        CHECK(stapgen_is_of_connecting(&others.skb, sk, &sender.fault) == STAPGEN_NOT_OF_CONNECTING);
        auto& syn_ack = answer(7002, SYN | ACK);
        CHECK(drop(syn_ack, true, netfilter) == connection);
        CHECK(stapgen_is_of_connecting(&syn_ack.skb, sk, &sender.fault) == STAPGEN_ITS_ANSWER);
        auto& late = answer(7003, RST | ACK);
        CHECK(drop(late, true, netfilter) == connection);
        CHECK(stapgen_is_of_connecting(&late.skb, sk, &sender.fault) == STAPGEN_NOT_OF_CONNECTING);
        // No losses: a capture's copy, a SYN that is refused or was answered; no SYN, and no answer to one.
        CHECK(drop(sender.segment(7001, 0, SYN), false, packet_socket) == 0);
        CHECK(drop(sender.segment(7001, 0, SYN), false, tcp_receive, SKB_DROP_REASON_NO_SOCKET) == 0);
        CHECK(drop(sender.segment(7001, 0, SYN), false, tcp_receive, SKB_DROP_REASON_NOT_SPECIFIED) == 0);
        CHECK(drop(sender.segment(7002, 101), false, netfilter) == 0);
        CHECK(sender.fault == nullptr);
    }
}

TEST_CASE("copies and bytes that were there are no loss, SYN and FIN have a number of their own") {
    Sender sender;
    const s64 sent = shim_now();
    sender.drops(sender.segment(1000, 101), qdisc, SKB_DROP_REASON_TCP_OLD_DATA);
    sender.drops_orphan(1000, 101, packet_socket);
    sender.drops(sender.segment(2000, 0, SYN), qdisc);
    sender.drops(sender.segment(3000, 0, FIN | ACK), qdisc);
    sender.resends(1000, 101, sent);
    sender.resends(2000, 1, sent);
    sender.resends(3000, 1, sent);
    CHECK(counted() == Counted{"not-here 1000", "lost-here 2000", "lost-here 3000"});
}

TEST_CASE("a DSACK says that the newest of what was sent again was needless, an undo that all of it was") {
    Sender sender;
    const s64 sent = shim_now();
    sender.drops(sender.segment(1202, 101), qdisc);
    for (const u32 seq : {1000, 1101, 1202, 1101, 1303})
        sender.resends(seq, 101, sent);
    // No DSACK: new bytes, and behind the acknowledgment.
    sender.sacks(1000, {{1101, 1202}});
    // Below the acknowledgment; and within the second block.
    sender.sacks(1202, {{1101, 1202}});
    sender.sacks(1202, {{1303, 1404}, {1303, 1505}});
    CHECK(counted() == Counted{"not-here 1000", "not-here 1101", "lost-here 1202", "needless 1101", "needless 1303"});
    for (const u32 seq : {1000, 1101, 1202})
        sender.resends(seq, 101, sent);
    sender.socket.tcp.undo_marker = 1101;
    stapgen_tcp_undoes(sender.socket.sk(), &sender.fault);
    CHECK(counted() == Counted{"not-here 1000", "needless 1101", "lost-here 1202"});
}

TEST_CASE("what is sent again is counted in its order after two seconds, and what finds no room makes the oldest go") {
    Sender sender;
    for (u32 i = 0; i < 3; i++)
        sender.resends(1000 + 101 * i, 101, 0);
    CHECK(stapgen_pop_resent(shim_time - STAPGEN_RESENT_NS) == nullptr);
    shim_time += STAPGEN_RESENT_NS;
    sender.resends(5000, 101, 0);
    int n = 0;
    while (const auto* of = stapgen_pop_resent(shim_time - STAPGEN_RESENT_NS))
        CHECK(of->seq == u32(1000 + 101 * n++));
    CHECK(n == 3);
    CHECK(counted().size() == 1);
}

TEST_CASE("drops that are forgotten within a minute are counted") {
    Sender sender;
    const auto before = stapgen_count_now(STAPGEN_COUNT_losses_evicted);
    for (u32 i = 0; i < STAPGEN_LOSSES + 101; i++) {
        Packet packet(true, 101, i * 101, 4001, 11211);
        packet.skb.skb_iif = 3;
        stapgen_tcp_drops(&packet.skb, qdisc, 7, &sender.fault);
    }
    CHECK(stapgen_count_now(STAPGEN_COUNT_losses_evicted) - before > 0);
    const auto now = stapgen_count_now(STAPGEN_COUNT_losses_evicted);
    shim_time += 61000000000LL;
    sender.drops(sender.segment(1000, 101), qdisc);
    CHECK(stapgen_count_now(STAPGEN_COUNT_losses_evicted) == now);
}
