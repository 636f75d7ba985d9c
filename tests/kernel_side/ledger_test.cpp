// SPDX-License-Identifier: GPL-2.0-or-later
// What becomes of packets from outside: tapsets/c/ledger.h.
#include "ledger_world.h"

TEST_CASE("packets are counted where they arrive and where they end, in packets of the wire") {
    Host host;
    host.reaches(host.arrives(host.packet(host.card)));
    host.reaches(host.arrives(host.packet(host.card, true, 17)));
    host.reaches(host.arrives(host.packet(host.card, false)));
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
    host.reaches(in_udp);
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
