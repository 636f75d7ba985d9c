// SPDX-License-Identifier: GPL-2.0-or-later
// What becomes of packets from outside: tapsets/c/ledger.h.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "world.h"

// world.h is before it: it has what the C is made of.
#include "c/print_ledger.h"

namespace {

constexpr unsigned long backlog = 0xffffffff81a00011, packet_socket = 0xffffffff81a00101,
                        netfilter = 0xffffffff81a00201;

}  // namespace

void shim_name_function(char* name, size_t size, unsigned long address) {
    std::snprintf(name, size, "%s+0x11",
                  address == backlog - 1         ? "enqueue_to_backlog"
                  : address == packet_socket - 1 ? "tpacket_rcv"
                                                 : "nf_hook_slow");
}

namespace {

/// A host with a card, a pair of virtual devices and loopback.
struct Host {
    device bus{};
    rtnl_link_ops veth_kind{"veth"}, bridge_kind{"bridge"};
    net_device card{}, veth{}, bridge{}, loopback{};
    std::vector<std::unique_ptr<Packet>> packets;
    const void* fault = nullptr;

    Host() {
        std::memset(stapgen_ledger, 0, sizeof stapgen_ledger);
        std::memset(stapgen_ledger_devices, 0, sizeof stapgen_ledger_devices);
        std::memset(stapgen_ledger_cards, 0, sizeof stapgen_ledger_cards);
        std::memset(stapgen_ledger_printed, 0, sizeof stapgen_ledger_printed);
        for (auto* device : {&card, &veth, &bridge, &loopback})
            device->adj_list.lower = {&device->adj_list.lower, &device->adj_list.lower};
        std::snprintf(card.name, sizeof card.name, "eth0");
        card.dev.parent = &bus;
        veth.rtnl_link_ops = &veth_kind;
        bridge.rtnl_link_ops = &bridge_kind;
        bridge.adj_list.lower.next = &card.adj_list.lower;
        loopback.flags = IFF_LOOPBACK;
    }
    /// On its way to its hand-over, behind the Ethernet header.
    Packet& packet(net_device& device, bool is_tcp = true, unsigned segments = 0) {
        auto& made = *packets.emplace_back(std::make_unique<Packet>(is_tcp, 101));
        made.skb.dev = &device;
        made.skb.protocol = htons(ETH_P_IP);
        auto* shared = const_cast<skb_shared_info*>(skb_shinfo(&made.skb));
        *shared = {};
        shared->gso_segs = static_cast<unsigned short>(segments);
        return made;
    }
    Packet& arrives(Packet& packet, int by = 7) {
        stapgen_ledger_arrives(&packet.skb, &fault);
        packet.skb.skb_iif = by;
        return packet;
    }
    void reaches(Packet& packet, int protocol = IPPROTO_TCP) {
        packet.skb.data = packet.skb.head + packet.skb.transport_header;
        stapgen_ledger_reaches(&packet.skb, protocol, &fault);
    }
    void is_queued(Packet& packet, net_device& device) {
        packet.skb.dev = &device;
        packet.skb.data = packet.bytes + 2;
        stapgen_ledger_is_queued(&packet.skb, &fault);
    }
    void passes_on(Packet& packet, net_device& device) {
        is_queued(packet, device);
        stapgen_ledger_leaves(&packet.skb, &fault);
    }
    std::string drops(Packet& packet, unsigned long location = netfilter) {
        const auto drop = stapgen_ledger_drops(&packet.skb, location, &fault);
        return drop.step == STAPGEN_NOT_OF_LEDGER
                   ? "none"
                   : stapgen_ledger_step_name(drop.step) + (" " + std::to_string(drop.weight));
    }
    void reads(std::uint64_t packets_read, std::uint64_t missed = 0) {
        rtnl_link_stats64 counters{};
        counters.rx_packets = packets_read;
        counters.rx_missed_errors = missed;
        stapgen_ledger_reads(&card, &counters, &fault);
    }
    std::string printed(bool at_end = false) {
        shim_printed.clear();
        stapgen_print_ledger(at_end);
        CHECK(fault == nullptr);
        return shim_printed;
    }
};

}  // namespace

TEST_CASE("packets are counted where they arrive and where they end, in packets of the wire") {
    Host host;
    host.reaches(host.arrives(host.packet(host.card)));
    host.reaches(host.arrives(host.packet(host.card, true, 17)));
    host.reaches(host.arrives(host.packet(host.card, false)), IPPROTO_UDP);
    host.passes_on(host.arrives(host.packet(host.veth)), host.card);
    CHECK(host.printed() ==
          "ledger\treceived\teth0\t19\nledger\treceived\tveth\t1\nledger\treached\ttcp\t18\nledger\treached\tudp\t1\n"
          "ledger\tpassed-on\teth0\t1\n");
    CHECK(host.printed(true).empty());
}

TEST_CASE("what a virtual machine's host has not cut is one packet") {
    Host host;
    auto& packet = host.packet(host.card, true, 17);
    const_cast<skb_shared_info*>(skb_shinfo(&packet.skb))->gso_type = SKB_GSO_DODGY;
    host.arrives(packet);
    CHECK(host.printed() == "ledger\treceived\teth0\t1\n");
}

TEST_CASE("a drop is at the step that its packet had reached") {
    Host host;
    auto& at_once = host.arrives(host.packet(host.card));
    CHECK(host.drops(at_once) == "way in 1");
    auto& in_tcp = host.arrives(host.packet(host.card, true, 3));
    host.reaches(in_tcp);
    CHECK(host.drops(in_tcp) == "tcp 3");
    auto& in_udp = host.arrives(host.packet(host.card, false));
    host.reaches(in_udp, IPPROTO_UDP);
    CHECK(host.drops(in_udp) == "udp 1");
    auto& in_queue = host.arrives(host.packet(host.card));
    host.is_queued(in_queue, host.veth);
    CHECK(host.drops(in_queue) == "way out 1");
    // In a CPU's input queue it has not been handed over; the ledger counts it as received.
    CHECK(host.drops(host.packet(host.veth), backlog) == "backlog 1");
    CHECK(host.printed(true) ==
          "ledger\treceived\teth0\t6\nledger\treceived\tveth\t1\nledger\treached\ttcp\t3\nledger\treached\tudp\t1\n");
}

TEST_CASE("this machine's own packets, loopback and copies of packet sockets are no part of it") {
    Host host;
    auto& own = host.packet(host.card);
    CHECK(host.drops(own) == "none");
    host.passes_on(own, host.card);
    auto& local = host.arrives(host.packet(host.loopback), LOOPBACK_IFINDEX);
    host.reaches(local);
    CHECK(host.drops(local) == "none");
    CHECK(host.drops(host.packet(host.loopback), backlog) == "none");
    auto& captured = host.arrives(host.packet(host.card));
    CHECK(host.drops(captured, packet_socket) == "none");
    Socket socket;
    socket.sk()->__sk_common.skc_family = AF_PACKET;
    captured.skb.sk = socket.sk();
    CHECK(host.drops(captured) == "none");
    CHECK(host.printed(true) == "ledger\treceived\teth0\t1\n");
}

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
    auto& whole = host.arrives(host.packet(host.card));
    inet_skb_parm of_ip{0, IPSKB_FRAG_COMPLETE};
    std::memcpy(whole.skb.cb, &of_ip, sizeof of_ip);
    host.reaches(whole, IPPROTO_UDP);
    CHECK(host.printed() ==
          "ledger\treceived\teth0\t1\nledger\tnot-followed\tseveral hosts\t1\nledger\tnot-followed\tnot IP\t1\n"
          "ledger\tnot-followed\tfragments\t1\n");
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

TEST_CASE("a bridge that hands a packet up again, and a device on top of another one, count it once") {
    Host host;
    auto& up = host.arrives(host.packet(host.card));
    up.skb.dev = &host.bridge;
    host.arrives(up);
    host.reaches(up);
    auto& out = host.arrives(host.packet(host.veth));
    host.passes_on(out, host.bridge);
    host.passes_on(out, host.card);
    CHECK(
        host.printed(true) ==
        "ledger\treceived\teth0\t1\nledger\treceived\tveth\t1\nledger\treached\ttcp\t1\nledger\tpassed-on\teth0\t1\n");
    // Where the device on top drops it, it has not been passed on.
    auto& dropped = host.arrives(host.packet(host.veth));
    host.passes_on(dropped, host.bridge);
    CHECK(host.drops(dropped) == "way out 1");
    CHECK(host.printed() == "ledger\treceived\tveth\t1\n");
}

TEST_CASE("packets that wait in a queue at the end are under way") {
    Host host;
    host.is_queued(host.arrives(host.packet(host.veth, true, 5)), host.card);
    CHECK(host.printed() == "ledger\treceived\tveth\t5\n");
    CHECK(host.printed(true) == "ledger\tunder-way\tqdisc\t5\n");
}

TEST_CASE("a listening socket's full queue is a loss unless the kernel says so itself") {
    Host host;
    auto& silent = host.arrives(host.packet(host.card));
    host.reaches(silent);
    stapgen_ledger_turns_away(&silent.skb, 1, &host.fault);
    auto& said = host.arrives(host.packet(host.card));
    host.reaches(said);
    stapgen_ledger_turns_away(&said.skb, 0, &host.fault);
    CHECK(host.drops(said) == "tcp 1");
    CHECK(host.printed() == "ledger\treceived\teth0\t2\nledger\treached\ttcp\t2\nledger\tlisten-queue\taccept\t1\n");
}

TEST_CASE("a card's own counters are held against what it handed over between two readings") {
    Host host;
    host.arrives(host.packet(host.card));
    host.reads(1000);
    CHECK(host.printed(true) == "ledger\treceived\teth0\t1\n");
    host.arrives(host.packet(host.card));
    auto& arp = host.packet(host.card);
    arp.skb.protocol = htons(ETH_P_ARP);
    host.arrives(arp);
    host.reads(1013, 7);
    CHECK(host.printed(true) ==
          "ledger\treceived\teth0\t1\nledger\tnot-followed\tnot IP\t1\nledger\tcard\teth0\t13\n"
          "ledger\tcard-missed\teth0\t7\nledger\tcard-errors\teth0\t0\nledger\tcard-handed-over\teth0\t2\n");
}

TEST_CASE("an unreadable packet is a fault, and counts nothing") {
    Host host;
    auto& packet = host.packet(host.card);
    shim_bad_begin = &packet.skb;
    shim_bad_end = &packet.skb + 1;
    stapgen_ledger_arrives(&packet.skb, &host.fault);
    CHECK(host.fault != nullptr);
    shim_bad_begin = shim_bad_end = nullptr;
    host.fault = nullptr;
    CHECK(host.printed().empty());
}
