// SPDX-License-Identifier: GPL-2.0-or-later
// Which packets from outside the ledger follows, and to where: tapsets/c/ledger.h.
#include "ledger_world.h"

TEST_CASE("frames to several hosts, what is not IP, and fragments are counted and not followed") {
    Host host;
    auto& several = host.packet(host.card);
    several.skb.pkt_type = PACKET_MULTICAST;
    auto& arp = host.packet(host.card);
    arp.skb.protocol = htons(ETH_P_ARP);
    auto& fragment = host.packet(host.card);
    fragment.put16(16 + 6, 0x2000);
    for (auto* packet : {&several, &arp, &fragment}) {
        host.arrives(*packet);
        CHECK(host.drops(*packet) == "none");
    }
    CHECK(host.printed() ==
          "ledger\tnot-followed\tseveral hosts\t1\nledger\tnot-followed\tnot IP\t1\n"
          "ledger\tnot-followed\tfragments\t1\n");
}

TEST_CASE("packets of IPv6 end at their protocol, behind any extension headers") {
    Host host;
    for (int i = 0; i < 17; i++)
        host.reaches(host.arrives(host.packet6(host.card, IPPROTO_TCP)));
    for (int i = 0; i < 13; i++)
        host.reaches(host.arrives(host.packet6(host.card, IPPROTO_UDP, {0, 60})));
    for (int i = 0; i < 7; i++)
        host.reaches(host.arrives(host.packet6(host.card, IPPROTO_ICMPV6)));
    for (int i = 0; i < 5; i++)
        host.reaches(host.arrives(host.packet6(host.card, 89, {43})));
    auto& dropped = host.arrives(host.packet6(host.card, IPPROTO_UDP, {60}));
    host.reaches(dropped);
    CHECK(host.drops(dropped) == "udp 1");
    CHECK(host.drops(host.arrives(host.packet6(host.card, IPPROTO_TCP))) == "way in 1");
    CHECK(host.printed() ==
          "ledger\treceived\teth0\t44\nledger\treached\ttcp\t17\nledger\treached\tudp\t14\n"
          "ledger\treached\ticmp\t7\nledger\treached\tother protocol\t5\n");
}

TEST_CASE("a fragment is one though its IP header is in a page, and of IPv6 behind other headers") {
    Host host;
    for (int i = 0; i < 13; i++) {
        auto& first = host.packet(host.card, false);
        first.put16(16 + 6, 0x2000);
        pages.assign(first.bytes + 16, first.bytes + 16 + 28);
        first.skb.len = 28;
        first.skb.data_len = 28;
        host.arrives(first);
        CHECK(host.drops(first) == "none");
        auto& second = host.packet6(host.card, IPPROTO_UDP, {0, 44});
        host.arrives(second);
        CHECK(host.drops(second) == "none");
    }
    pages.clear();
    auto& whole = host.packet(host.card, false);
    pages.assign(whole.bytes + 16, whole.bytes + 16 + 28);
    whole.skb.len = whole.skb.data_len = 28;
    host.arrives(whole);
    CHECK(host.drops(whole) == "way in 1");
    pages.clear();
    CHECK(host.printed() == "ledger\treceived\teth0\t1\nledger\tnot-followed\tfragments\t26\n");
}

TEST_CASE("what IP has made of fragments does not end a second time") {
    Host host;
    for (const bool is_ip6 : {false, true}) {
        auto made = [&]() -> Packet& {
            auto& packet = is_ip6 ? host.packet6(host.card, IPPROTO_UDP) : host.packet(host.card, false);
            packet.skb.skb_iif = 7;
            host.is_reassembled(packet, 552);
            return packet;
        };
        host.reaches(made());
        CHECK(host.drops(made()) == "none");
        auto& no_room = made();
        host.reaches(no_room);
        // IP_PKTINFO has overwritten the number of the device.
        if (!is_ip6) host.is_reassembled(no_room, 552, 0);
        CHECK(host.drops(no_room) == "none");
        host.is_cut(made(), host.veth);
        // Before IP its control block is another's.
        auto& early = is_ip6 ? host.packet6(host.card, IPPROTO_UDP) : host.packet(host.card, false);
        host.arrives(early);
        host.is_reassembled(early, 552, is_ip6 ? -5 : 5003);
        CHECK(host.drops(early) == "way in 1");
    }
    // TCP has a block of its own.
    auto& segment = host.packet(host.card);
    segment.skb.skb_iif = 7;
    host.is_reassembled(segment, 552);
    host.reaches(segment);
    tcp_skb_cb of_tcp{};
    of_tcp.seq = 0;
    of_tcp.header.h4.frag_max_size = 552;
    std::memcpy(segment.skb.cb, &of_tcp, sizeof of_tcp);
    CHECK(host.drops(segment) == "none");
    CHECK(host.printed() == "ledger\treceived\teth0\t2\n");
}

TEST_CASE("a datagram that is cut on its way out is passed on, unless IP drops it") {
    Host host;
    for (const bool is_ip6 : {false, true}) {
        for (int i = 0; i < 17; i++) {
            auto& whole = is_ip6 ? host.packet6(host.card, IPPROTO_UDP) : host.packet(host.card, false);
            host.is_cut(host.arrives(whole), host.veth);
            // Its skb may be that of its first fragment.
            if (is_ip6)
                whole.bytes[16 + 6] = 44;
            else
                whole.put16(16 + 6, 0x2000);
            host.passes_on(whole, host.veth);
        }
        auto& refused = is_ip6 ? host.packet6(host.card, IPPROTO_UDP) : host.packet(host.card, false);
        host.is_cut(host.arrives(refused), host.veth);
        CHECK(host.drops(refused) == "way in 1");
        // Another packet with its skb is not taken for it.
        auto& reused = is_ip6 ? host.packet6(host.card, IPPROTO_UDP) : host.packet(host.card, false);
        host.is_cut(host.arrives(reused), host.veth);
        reused.skb.skb_iif = 0;
        host.arrives(reused);
        reused.skb.dev = &host.card;
        CHECK(host.drops(reused) == "way in 1");
    }
    CHECK(host.printed(true) == "ledger\treceived\teth0\t38\nledger\treceived\tveth\t2\nledger\tpassed-on\tveth\t36\n");
}

TEST_CASE("copies of what this machine sends to several hosts are not received") {
    Host host;
    for (const bool is_ip6 : {false, true}) {
        auto& copy = is_ip6 ? host.packet6(host.card, IPPROTO_UDP) : host.packet(host.card, false);
        copy.skb.pkt_type = PACKET_LOOPBACK;
        CHECK(host.drops(copy, backlog) == "none");
        host.arrives(copy);
        CHECK(host.drops(copy) == "none");
        host.reaches(copy);
        CHECK(host.drops(copy) == "none");
    }
    CHECK(host.printed(true).empty());
}

TEST_CASE("IPsec's packets go on, and what it drops had not reached a protocol") {
    Host host;
    for (const bool is_ip6 : {false, true}) {
        auto& packet = is_ip6 ? host.packet6(host.card, 50) : host.packet(host.card, false);
        if (!is_ip6) packet.bytes[16 + 9] = 50;
        host.reaches(host.arrives(packet));
        CHECK(host.drops(packet) == "way in 1");
    }
    CHECK(host.printed() == "ledger\treceived\teth0\t2\n");
}

TEST_CASE("what waited in a queue before the run and leaves in it was not received in it") {
    Host host;
    auto& before = host.packet(host.veth);
    before.skb.skb_iif = 7;
    before.skb.dev = &host.card;
    before.skb.data = before.bytes + 2;
    stapgen_ledger_leaves(&before.skb, &host.fault);
    CHECK(host.printed(true) == "ledger\tpassed-on\teth0\t1\nledger\tunder-way-before\tqdisc\t1\n");
}

TEST_CASE("a packet below a VLAN's tag is what it is behind it") {
    Host host;
    auto& tagged = host.packet(host.card);
    tagged.skb.protocol = htons(ETH_P_8021Q);
    tagged.skb.data = tagged.bytes + 12;
    tagged.put16(14, ETH_P_IP);
    auto& arp = host.packet(host.card);
    arp.skb.protocol = htons(ETH_P_8021Q);
    arp.skb.data = arp.bytes + 12;
    arp.put16(14, ETH_P_ARP);
    host.arrives(tagged);
    host.arrives(arp);
    CHECK(host.printed() == "ledger\treceived\teth0\t1\nledger\tnot-followed\tnot IP\t1\n");
}
