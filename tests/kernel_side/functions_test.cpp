// SPDX-License-Identifier: GPL-2.0-or-later
// What single functions do, with literal values.
#include <doctest/doctest.h>

#include <set>

#define STAPGEN_PACKET_BITS 2
#define STAPGEN_FIELDS 9
#define STAPGEN_PARTS 7
#include "world.h"

// world.h is first: it has what the C is made of.
#include "c/aggregate_request.h"
#include "c/aggregate_rx.h"
#include "c/aggregate_tx.h"
#include "c/print_request.h"
#include "c/print_rx.h"
#include "c/print_tx.h"
#include "c/sample.h"

TEST_CASE("a counter has the name that a script says, and all CPUs' counts") {
    std::memset(&stapgen_counts, 0, sizeof(stapgen_counts));
    shim_cpu = 3;
    STAPGEN_ADD(rx_queued);
    shim_cpu = 0;
    STAPGEN_ADD(rx_queued);
    stapgen_snapshot_counts();
    REQUIRE(stapgen_counter("rx_queued") != nullptr);
    CHECK(*stapgen_counter("rx_queued") == 2);
    CHECK(*stapgen_counter("rx_arrived") == 0);
    STAPGEN_ADD(rx_queued);
    CHECK(*stapgen_counter("rx_queued") == 2);
    CHECK(stapgen_counter("rx_quued") == nullptr);
    CHECK(stapgen_counter("") == nullptr);
}

TEST_CASE("which sockets are one of sixteen, whichever end is asked, and in an IPv6 socket, too") {
    const u8 a[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
    const u8 b[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2};
    const std::set<u32> sampled{1034, 1046, 1063, 1075, 1086, 1093, 1105, 1122, 1145, 1152, 1204, 1213};
    const void* fault = nullptr;
    for (u32 port = 1024; port < 1224; port++) {
        CAPTURE(port);
        CHECK(stapgen_is_sampled(a + 12, b + 12, 1, port ^ 80, 16, &fault) == (sampled.count(port) > 0));
        CHECK(stapgen_is_sampled(b + 12, a + 12, 1, 80 ^ port, 16, &fault) == (sampled.count(port) > 0));
        CHECK(stapgen_is_sampled(a, b, 0, port ^ 80, 16, &fault) == (sampled.count(port) > 0));
    }
    CHECK(fault == nullptr);
}

TEST_CASE("what cannot be read is told with its address, and nothing is noted of it") {
    Packet packet(true, 7);
    std::memset(&stapgen_counts, 0, sizeof(stapgen_counts));
    const void* fault = nullptr;
    shim_bad_begin = &packet.skb, shim_bad_end = &packet.skb + 1;
    stapgen_rx_at_driver(&packet.skb, &fault);
    CHECK(fault != nullptr);
    fault = nullptr;
    CHECK_FALSE(stapgen_rx_at_transport(&packet.skb, 1, &fault));
    CHECK(fault != nullptr);
    shim_bad_begin = shim_bad_end = nullptr;
    CHECK(stapgen_find_rx_packet(key_of(packet.bytes)) == nullptr);
    CHECK(stapgen_count_now(STAPGEN_COUNT_rx_arrived) == 0);
    // What is no address of the kernel's.
    fault = nullptr;
    stapgen_read(reinterpret_cast<const void*>(17), 4, &fault);
    CHECK(fault == reinterpret_cast<const void*>(17));
}

TEST_CASE("payloads are told by the headers, wherever skb->data points") {
    const void* fault = nullptr;
    Packet tcp(true, 101), udp(false, 13);
    CHECK(stapgen_tcp_payload_of(&tcp.skb, &fault) == 101);
    CHECK(stapgen_udp_payload_of(&udp.skb) == 13);
    CHECK(stapgen_ip_payload_of(&tcp.skb, &fault) == 101);
    CHECK(stapgen_ip_payload_of(&udp.skb, &fault) == 13 + 8);
    tcp.skb.data = tcp.bytes + 36, tcp.skb.len -= 20;
    CHECK(stapgen_tcp_payload_of(&tcp.skb, &fault) == 101);
    tcp.bytes[48] = 0xa0;  // 20 bytes of options
    CHECK(stapgen_tcp_payload_of(&tcp.skb, &fault) == 81);
    udp.bytes[16 + 7] = 9;  // a further fragment
    CHECK(stapgen_ip_payload_of(&udp.skb, &fault) == 0);
    // The header is in a page.
    Packet hidden(true, 101);
    hidden.skb.data_len = hidden.skb.len - 20;
    CHECK(stapgen_tcp_payload_of(&hidden.skb, &fault) == -1);
    CHECK(fault == nullptr);
}

TEST_CASE("a FIN is no byte of data") {
    const void* fault = nullptr;
    Packet packet(true, 7, 100);
    CHECK(stapgen_segment_end_of(&packet.skb, &fault) == 107);
    packet.bytes[36 + 13] = 1;
    tcp_skb_cb cb{};
    cb.seq = 100;
    cb.end_seq = 108;
    std::memcpy(packet.skb.cb, &cb, sizeof(cb));
    CHECK(stapgen_segment_end_of(&packet.skb, &fault) == 107);
}

TEST_CASE("a packet whose header is in a page when it enters TCP is told at its socket") {
    std::memset(stapgen_rx_packets_places, 0, sizeof(stapgen_rx_packets_places));
    std::memset(&stapgen_counts, 0, sizeof(stapgen_counts));
    const void* fault = nullptr;
    Socket socket;
    Packet packet(true, 7, 100);
    const u32 in_pages = packet.skb.data_len;
    stapgen_rx_at_driver(&packet.skb, &fault);
    stapgen_rx_at_ip(&packet.skb, &fault);
    packet.skb.data_len = packet.skb.len - 20;
    CHECK_FALSE(stapgen_rx_at_transport(&packet.skb, 1, &fault));
    CHECK(stapgen_queue_rx_packet(socket.sk(), &packet.skb, 1, &fault) == 1);
    packet.skb.data_len = in_pages;
    CHECK(stapgen_rx_at_socket(&packet.skb, 1, &fault) == STAPGEN_FIRST_READ);
    CHECK(stapgen_rx_at_socket(&packet.skb, 1, &fault) == STAPGEN_FOLLOWED);
    CHECK(stapgen_queue_rx_packet(socket.sk(), &packet.skb, 1, &fault) == 0);
    CHECK(stapgen_count_now(STAPGEN_COUNT_rx_queued) == 1);
    CHECK(stapgen_rx_at_socket(&packet.skb, 1, &fault) == STAPGEN_NOT_FOLLOWED);
    stapgen_erase_rx_queue(socket.key());
}

TEST_CASE("what a packet socket frees of a packet is not the packet") {
    const void* fault = nullptr;
    Packet packet(true, 7);
    stapgen_rx_at_driver(&packet.skb, &fault);
    const skb_shared_info two{{2}};
    std::memcpy(packet.bytes + packet.skb.end, &two, sizeof(two));
    stapgen_rx_dropped(&packet.skb, 1, &fault);
    CHECK(stapgen_find_rx_packet(key_of(packet.bytes)) != nullptr);
    std::memset(packet.bytes + packet.skb.end, 0, sizeof(two));
    stapgen_rx_dropped(&packet.skb, 1, &fault);
    CHECK(stapgen_find_rx_packet(key_of(packet.bytes)) == nullptr);
}

TEST_CASE("a set that is full gives the oldest of a key's places away, and finds what it has") {
    std::memset(stapgen_rx_packets_places, 0, sizeof(stapgen_rx_packets_places));
    const long places = std::size(stapgen_rx_packets_places);
    std::vector<unsigned long> keys;
    int evicted = 0;
    for (unsigned long key = 4096; key < 4096 + 64UL * 101; key += 64) {
        enum stapgen_inserted inserted;
        auto* place = stapgen_insert(stapgen_rx_packets, key, static_cast<s64>(key), &inserted);
        REQUIRE(place != nullptr);
        CHECK(stapgen_find(stapgen_rx_packets, key) == place);
        CHECK(inserted != STAPGEN_WAS_THERE);
        evicted += inserted == STAPGEN_EVICTED;
        keys.push_back(key);
        CHECK(stapgen_insert(stapgen_rx_packets, key, static_cast<s64>(key), &inserted) == place);
        CHECK(inserted == STAPGEN_WAS_THERE);
    }
    long found = 0;
    s64 oldest_kept = 1L << 40;
    for (const auto key : keys) {
        if (stapgen_find(stapgen_rx_packets, key) == nullptr) continue;
        ++found;
        oldest_kept = std::min(oldest_kept, static_cast<s64>(key));
    }
    CHECK(found == places);
    CHECK(found + evicted == 101);
    // Those of two sets are compared, not of all.
    CHECK(oldest_kept > static_cast<s64>(keys[keys.size() / 2]));
    auto* place = stapgen_find(stapgen_rx_packets, keys.back());
    CHECK_FALSE(stapgen_erase(place, keys.back() + 1));
    CHECK(stapgen_erase(place, keys.back()));
    CHECK_FALSE(stapgen_erase(place, keys.back()));
    CHECK(stapgen_find(stapgen_rx_packets, 0) == nullptr);
}

TEST_CASE("an alias of two writers' halves is none") {
    std::ranges::fill(stapgen_cut_heads, stapgen_alias{});
    const unsigned long key = 0xffff888101000100, head = 0xffff888102000400, other = 0xffff888102000800;
    stapgen_set_alias(stapgen_cut_heads, key, head);
    CHECK(stapgen_head_by_alias(stapgen_cut_heads, key) == head);
    CHECK(stapgen_head_by_alias(stapgen_cut_heads, key + 1) == 0);
    auto* alias = stapgen_find_alias(stapgen_cut_heads, key);
    REQUIRE(alias != nullptr);
    alias->head = other;
    CHECK(stapgen_head_by_alias(stapgen_cut_heads, key) == 0);
    stapgen_erase_alias(stapgen_cut_heads, key);
    CHECK(alias->check != 0);
    alias->head = head;
    stapgen_erase_alias(stapgen_cut_heads, key);
    CHECK(stapgen_head_by_alias(stapgen_cut_heads, key) == 0);
}

TEST_CASE("aliases of one set: four are kept, of a fifth one gives way, and none is another's") {
    std::ranges::fill(stapgen_cut_heads, stapgen_alias{});
    std::vector<unsigned long> keys;
    for (unsigned long key = 0xffff888101000100; keys.size() < 5; key += 256)
        if (stapgen_hash(key, STAPGEN_ALIASES_BITS) / STAPGEN_ALIASES_IN_SET == 17) keys.push_back(key);
    const auto kept = [&] {
        return std::ranges::count_if(keys, [](unsigned long key) {
            const auto head = stapgen_head_by_alias(stapgen_cut_heads, key);
            CHECK((head == 0 || head == key + 1));
            return head != 0;
        });
    };
    for (int i = 0; i < 4; ++i)
        stapgen_set_alias(stapgen_cut_heads, keys[i], keys[i] + 1);
    CHECK(kept() == 4);
    stapgen_set_alias(stapgen_cut_heads, keys[2], keys[2] + 1);
    CHECK(kept() == 4);
    stapgen_set_alias(stapgen_cut_heads, keys[4], keys[4] + 1);
    CHECK(stapgen_head_by_alias(stapgen_cut_heads, keys[4]) == keys[4] + 1);
    CHECK(kept() == 4);
    for (const auto key : keys)
        stapgen_erase_alias(stapgen_cut_heads, key);
    CHECK(kept() == 0);
}

TEST_CASE("an skb in a device's queue is another packet's where its head went to one") {
    std::memset(stapgen_tx_packets_places, 0, sizeof(stapgen_tx_packets_places));
    std::ranges::fill(stapgen_queued_skbs, stapgen_alias{});
    const void* fault = nullptr;
    Packet first(false, 3), second(false, 3), other(false, 3);
    stapgen_tx_at_udp(&first.skb, 17, 3, &fault);
    stapgen_tx_at_ip(&first.skb, &fault);
    stapgen_tx_at_device(&first.skb, 1, &fault);
    // Its driver was not seen. The next packet has its head and another skb, and its skb another head.
    second.skb.head = first.skb.head;
    stapgen_tx_at_udp(&second.skb, 101, 3, &fault);
    stapgen_tx_at_ip(&second.skb, &fault);
    stapgen_tx_at_device(&second.skb, 1, &fault);
    first.skb.head = other.skb.head;
    CHECK(stapgen_pop_tx_packet(&first.skb, &fault) == nullptr);
    const auto* left = stapgen_pop_tx_packet(&second.skb, &fault);
    REQUIRE(left != nullptr);
    CHECK(left->called == 101);
}

TEST_CASE("a socket is another one with another cookie, or with other ports") {
    const auto is_same = [](stapgen_socket_id a, stapgen_socket_id b) { return stapgen_is_same_socket(&a, &b) != 0; };
    CHECK(is_same({0, 0x10002}, {0, 0x10002}));
    CHECK_FALSE(is_same({0, 0x10002}, {0, 0x10003}));
    CHECK_FALSE(is_same({7, 0x10002}, {8, 0x10002}));
    // The kernel gives it one when somebody asks.
    CHECK(is_same({0, 0x10002}, {8, 0x10002}));
    CHECK(is_same({7, 0}, {7, 0x10002}));
    const void* fault = nullptr;
    Socket socket(4001, 5);
    const auto id = stapgen_socket_id_of(socket.sk(), &fault);
    CHECK(id.cookie == 5);
    CHECK(id.ports == (u32{htons(4001)} << 16 | htons(11211)));
    socket.becomes(0);
    CHECK(stapgen_socket_id_of(socket.sk(), &fault).ports == 0);
}

TEST_CASE("the record of a packet that was read") {
    std::memset(stapgen_rx_packets_places, 0, sizeof(stapgen_rx_packets_places));
    shim_printed.clear();
    shim_tasks[shim_task = 0] = {186, 183, "mc\"\n"};
    const void* fault = nullptr;
    Socket socket;
    Packet packet(true, 101, 0);
    shim_time = 1000;
    stapgen_rx_at_driver(&packet.skb, &fault);
    shim_time = 1100;
    stapgen_rx_at_ip(&packet.skb, &fault);
    shim_time = 1300;
    stapgen_rx_at_transport(&packet.skb, 1, &fault);
    CHECK(stapgen_queue_rx_packet(socket.sk(), &packet.skb, 1, &fault) == 0);
    socket.tcp.copied_seq = 100;
    CHECK(stapgen_pop_read(socket.key(), 0, 1, &fault) == nullptr);
    socket.tcp.copied_seq = 101;
    REQUIRE(stapgen_pop_read(socket.key(), 0, 1, &fault) != nullptr);
    const stapgen_ends ends{packet.bytes + 32, packet.bytes + 28, 1, 11211, 4001};
    stapgen_print_rx("rx", "\trx", "\t-", 2301, nullptr, &ends, &fault);
    // As many stages as the recipe has, which are nine here.
    CHECK(shim_printed ==
          "rx\t2301\t0\t183\t186\tmc\\042\\012\trx\t0.ffff0a000002:11211\t0.ffff0a000001:4001\teth0\t101"
          "\t-\t100\t200\t1000\t-\t-\t-\t-\t-\t-\n");
    CHECK(fault == nullptr);
    // Nothing is printed of what cannot be read.
    shim_printed.clear();
    shim_bad_begin = packet.bytes, shim_bad_end = packet.bytes + 256;
    stapgen_print_rx("rx", "", "", 2301, nullptr, &ends, &fault);
    CHECK(fault == packet.bytes + 28);
    CHECK(shim_printed.empty());
    shim_bad_begin = shim_bad_end = nullptr;
}

TEST_CASE("the record of a datagram that leaves, over IPv6") {
    std::memset(stapgen_tx_packets_places, 0, sizeof(stapgen_tx_packets_places));
    shim_printed.clear();
    shim_tasks[shim_task = 0] = {17, 16, "dig"};
    const void* fault = nullptr;
    Packet packet(false, 9, 0, 5353, 53);
    // 40 bytes of header before 56.
    std::memmove(packet.bytes + 56, packet.bytes + 36, 4);
    packet.skb.transport_header = 56;
    std::memset(packet.bytes + 16, 0, 40);
    packet.bytes[16] = 0x60;
    packet.bytes[24] = 0xfe, packet.bytes[25] = 0x80, packet.bytes[39] = 1;
    packet.bytes[40] = 0x20, packet.bytes[55] = 0xab;
    shim_time = 1000;
    stapgen_tx_at_udp(&packet.skb, 900, 9, &fault);
    shim_time = 1100;
    stapgen_tx_at_ip(&packet.skb, &fault);
    shim_time = 1300;
    stapgen_tx_at_device(&packet.skb, 1, &fault);
    REQUIRE(stapgen_pop_tx_packet(&packet.skb, &fault) != nullptr);
    stapgen_print_tx("tx", "", "", "\t4026531840", &packet.skb, 1701, &fault);
    CHECK(shim_printed ==
          "tx\t1701\t0\t16\t17\tdig\tfe80000000000000.1:5353\t2000000000000000.ab:53\teth0\t9"
          "\t-\t-\t101\t100\t200\t400\t4026531840\n");
}

TEST_CASE("the longest line fits, and a longer one is cut") {
    stapgen_line line;
    line.length = 0;
    for (int i = 0; i < 1009; ++i)
        stapgen_put_byte(&line, 'x');
    shim_printed.clear();
    stapgen_print_line(&line);
    CHECK(shim_printed == std::string(702, 'x') + "\n");
    line.length = 0;
    stapgen_put_number(&line, -9223372036854775807 - 1);
    stapgen_put_hex(&line, 0);
    CHECK(std::string(line.text, line.length) == "\t-92233720368547758080");
}
