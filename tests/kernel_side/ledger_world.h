// SPDX-License-Identifier: GPL-2.0-or-later
// A host whose packets are counted: tapsets/c/ledger.h.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "world.h"

// world.h is before it: it has what the C is made of.
#include "c/print_ledger.h"

inline constexpr unsigned long backlog = 0xffffffff81a00011, packet_socket = 0xffffffff81a00101,
                               netfilter = 0xffffffff81a00201;
/// What a packet has behind its first part.
inline std::vector<unsigned char> pages;

inline int skb_copy_bits(const sk_buff* skb, int offset, void* to, int length) {
    const int first = int(skb->len - skb->data_len);
    if (offset < first || offset + length > first + int(pages.size())) return -14;
    std::copy_n(pages.begin() + (offset - first), length, static_cast<unsigned char*>(to));
    return 0;
}

inline void shim_name_function(char* name, size_t size, unsigned long address) {
    std::snprintf(name, size, "%s+0x11",
                  address == backlog - 1         ? "enqueue_to_backlog"
                  : address == packet_socket - 1 ? "tpacket_rcv"
                                                 : "nf_hook_slow");
}

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
        made.skb.mac_header = 2;
        made.put16(14, ETH_P_IP);
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
    /// It has an IPv6 header, with extensions of 8 bytes before its protocol.
    Packet& packet6(net_device& device, int protocol, std::vector<int> extensions = {}) {
        auto& made = packet(device);
        auto* ip = made.bytes + 16;
        std::fill(ip, std::end(made.bytes) - 64, 0);
        ip[0] = 0x60;
        int at = 6;
        made.skb.transport_header = u16(16 + 40 + 8 * extensions.size());
        extensions.push_back(protocol);
        for (const int next : extensions) {
            ip[at] = static_cast<unsigned char>(next);
            at = at == 6 ? 40 : at + 8;
        }
        made.skb.protocol = htons(ETH_P_IPV6);
        made.put16(14, ETH_P_IPV6);
        made.skb.len = 140;
        made.skb.data_len = 0;
        return made;
    }
    /// IP's control block, of what it has made of fragments of that size; or TCP's in its place.
    void is_reassembled(Packet& packet, u16 size, int by = 7) {
        inet_skb_parm ip4{by, 0, size};
        inet6_skb_parm ip6{by, 6, 0, size};
        if (packet.skb.protocol == htons(ETH_P_IP))
            std::memcpy(packet.skb.cb, &ip4, sizeof ip4);
        else
            std::memcpy(packet.skb.cb, &ip6, sizeof ip6);
    }
    void reaches(Packet& packet) {
        packet.skb.data = packet.skb.head + packet.skb.transport_header;
        stapgen_ledger_reaches(&packet.skb, &fault);
    }
    void is_cut(Packet& packet, net_device& device) {
        packet.skb.dev = &device;
        stapgen_ledger_is_cut(&packet.skb, &fault);
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
