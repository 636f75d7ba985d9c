// SPDX-License-Identifier: GPL-2.0-or-later
// Whose packets and sockets are, and what a packet is.
#include <doctest/doctest.h>

#include "world.h"

// world.h is before it: it has what the C is made of.
#include "c/packet_kind.h"
#include "c/rx_owner.h"

inline int skb_copy_bits(const sk_buff*, int, void*, int) {
    return -14;
}

namespace {

constexpr u32 first_inode = 4026531833, red_inode = 4026532201;

struct Namespace {
    net of{};
    net_device loopback{};
    explicit Namespace(u32 inode) {
        of.ns.inum = inode;
        of.loopback_dev = &loopback;
        loopback.nd_net.net = &of;
    }
    Namespace(const Namespace&) = delete;
};

struct Cgroup {
    kernfs_node node{};
    cgroup of{};
    explicit Cgroup(u64 id, Cgroup* parent = nullptr) {
        node.id = id;
        of.kn = &node;
        of.self.parent = parent == nullptr ? nullptr : &parent->of.self;
    }
    Cgroup(const Cgroup&) = delete;
};

struct Tree {
    Namespace first{first_inode}, red{red_inode};
    Cgroup root{1}, slice{1009, &root}, web{2003, &slice}, inner{3001, &web}, other{4001, &slice};
};

sock* make(Socket& socket, Namespace& netns, Cgroup* cgroup) {
    auto* sk = socket.sk();
    sk->__sk_common.skc_net.net = &netns.of;
    sk->__sk_common.skc_state = 1;
    sk->sk_cgrp_data.cgroup = cgroup == nullptr ? nullptr : &cgroup->of;
    return sk;
}

void want(std::initializer_list<unsigned long> netns, std::initializer_list<unsigned long> cgroups,
          std::initializer_list<unsigned long> of_containers) {
    const auto set = [](auto& to, auto& from) {
        std::fill(std::begin(to), std::end(to), 0);
        std::copy(from.begin(), from.end(), std::begin(to));
    };
    set(stapgen_wanted_netns, netns);
    set(stapgen_wanted_cgroups, cgroups);
    set(stapgen_container_netns, of_containers);
    stapgen_owner_numbers = static_cast<unsigned>(netns.size() + cgroups.size() + of_containers.size());
}

TEST_CASE("the namespace is that of the device, else of the socket") {
    Tree tree;
    Packet packet(true, 1);
    CHECK(stapgen_netns_of_packet(&packet.skb) == 0);
    Socket socket;
    packet.skb.sk = make(socket, tree.red, &tree.web);
    CHECK(stapgen_netns_of_packet(&packet.skb) == red_inode);
    packet.device.nd_net.net = &tree.first.of;
    CHECK(stapgen_netns_of_packet(&packet.skb) == first_inode);
    packet.skb.dev = nullptr;
    CHECK(stapgen_netns_of_packet(&packet.skb) == red_inode);
}

TEST_CASE("what stands in place of a device or a socket is not believed, and is no fault") {
    Tree tree;
    Packet packet(false, 1);
    net wrong{};
    wrong.ns.inum = red_inode;
    packet.device.nd_net.net = &wrong;
    CHECK(stapgen_netns_of_packet(&packet.skb) == 0);
    wrong.loopback_dev = &tree.red.loopback;  // of another
    CHECK(stapgen_netns_of_packet(&packet.skb) == 0);
    wrong = {};
    CHECK(stapgen_netns_of_packet(&packet.skb) == 0);
    packet.device.nd_net.net = reinterpret_cast<net*>(17);
    CHECK(stapgen_netns_of_packet(&packet.skb) == 0);
    packet.skb.dev = reinterpret_cast<net_device*>(1500);  // a length
    packet.skb.sk = reinterpret_cast<sock*>(1480);         // an offset of a fragment
    CHECK(stapgen_netns_of_packet(&packet.skb) == 0);
    CHECK(stapgen_sock_of(&packet.skb) == nullptr);
    Packet gone(true, 1);
    gone.device.nd_net.net = &tree.red.of;
    shim_bad_begin = &gone.device;
    shim_bad_end = &gone.device + 1;
    CHECK(stapgen_netns_of_packet(&gone.skb) == 0);
    shim_bad_begin = shim_bad_end = nullptr;
    CHECK(stapgen_netns_of_packet(&gone.skb) == red_inode);
}

TEST_CASE("the cgroup is the socket's, of a request the listener's, and none of the root or of TIME_WAIT") {
    Tree tree;
    Socket socket, listener;
    CHECK(stapgen_cgroup_id_of_sock(make(socket, tree.red, &tree.inner)) == 3001);
    CHECK(stapgen_cgroup_id_of_sock(make(socket, tree.red, &tree.root)) == 0);
    CHECK(stapgen_cgroup_id_of_sock(make(socket, tree.red, nullptr)) == 0);
    CHECK(stapgen_cgroup_id_of_sock(nullptr) == 0);
    auto* waits = make(socket, tree.red, &tree.web);
    waits->__sk_common.skc_state = 6;
    CHECK(stapgen_cgroup_id_of_sock(waits) == 0);
    request_sock request{};
    request.__req_common.skc_net.net = &tree.red.of;
    request.__req_common.skc_state = 12;
    const auto* asked = reinterpret_cast<const sock*>(&request);
    CHECK(stapgen_cgroup_id_of_sock(asked) == 0);
    request.rsk_listener = make(listener, tree.red, &tree.other);
    CHECK(stapgen_cgroup_id_of_sock(asked) == 4001);
}

TEST_CASE("a filter by namespace, by cgroup with what is below it, and by a container") {
    Tree tree;
    Socket of_red, of_first, of_inner, of_other, of_nobody;
    auto *red = make(of_red, tree.red, &tree.slice), *first = make(of_first, tree.first, &tree.slice),
         *inner = make(of_inner, tree.red, &tree.inner), *other = make(of_other, tree.red, &tree.other),
         *nobody = make(of_nobody, tree.red, &tree.root);
    want({}, {}, {});
    CHECK(!stapgen_has_owner_filter());
    CHECK(stapgen_is_wanted_sock(first));
    want({red_inode, 4026532300}, {}, {});
    CHECK(stapgen_has_owner_filter());
    CHECK(stapgen_is_wanted_sock(red));
    CHECK(!stapgen_is_wanted_sock(first));
    want({}, {2003}, {});
    CHECK(stapgen_is_wanted_sock(inner));
    for (const auto* sk : {red, first, other, nobody})
        CHECK(!stapgen_is_wanted_sock(sk));
    // The namespace tells where the cgroup does not.
    want({}, {2003}, {red_inode});
    CHECK(stapgen_is_wanted_sock(inner));
    CHECK(stapgen_is_wanted_sock(nobody));
    // A program in the root cgroup made it, in the container's namespace.
    nobody->sk_net_refcnt = 1;
    for (const auto* sk : {red, first, other, nobody})
        CHECK(!stapgen_is_wanted_sock(sk));
    want({}, {}, {red_inode});
    CHECK(stapgen_is_wanted_sock(nobody));
    want({first_inode}, {2003}, {red_inode});
    CHECK(!stapgen_is_wanted_sock(inner));
    want({}, {}, {});
}

TEST_CASE("a packet is wanted by its socket's cgroup, before it has one by its namespace") {
    Tree tree;
    Packet packet(true, 1);
    packet.device.nd_net.net = &tree.red.of;
    want({}, {2003}, {red_inode});
    CHECK(stapgen_is_wanted_packet_of(&packet.skb));
    CHECK(stapgen_may_be_wanted(&packet.skb));
    Socket socket;
    packet.skb.sk = make(socket, tree.red, &tree.other);
    CHECK(!stapgen_is_wanted_packet_of(&packet.skb));
    packet.skb.sk = nullptr;
    packet.device.nd_net.net = &tree.first.of;
    CHECK(!stapgen_is_wanted_packet_of(&packet.skb));
    // A part of what is in the cgroup may have the host's namespace: its socket will tell.
    CHECK(stapgen_may_be_wanted(&packet.skb));
    want({}, {}, {red_inode});
    CHECK(!stapgen_may_be_wanted(&packet.skb));
    want({}, {2003}, {});
    CHECK(!stapgen_is_wanted_packet_of(&packet.skb));
    CHECK(stapgen_may_be_wanted(&packet.skb));
    packet.skb.dev = nullptr;
    want({red_inode}, {}, {});
    CHECK(stapgen_may_be_wanted(&packet.skb));
    CHECK(!stapgen_is_wanted_packet_of(&packet.skb));
    want({}, {}, {});
}

TEST_CASE("a followed packet that meets an unwanted socket is counted once and forgotten") {
    Tree tree;
    Socket socket;
    auto* sk = make(socket, tree.red, &tree.other);
    Packet packet(true, 7);
    packet.skb.data_len = 0;
    const void* fault = nullptr;
    stapgen_rx_at_driver(&packet.skb, &fault);
    REQUIRE(stapgen_rx_at_transport(&packet.skb, 1, &fault) == 1);
    want({}, {4001}, {});
    CHECK(!stapgen_rx_at_unwanted(sk, &packet.skb, 1, &fault));
    CHECK(stapgen_find_rx_packet(key_of(packet.skb.head)) != nullptr);
    want({}, {2003}, {});
    CHECK(stapgen_rx_at_unwanted(sk, &packet.skb, 1, &fault));
    CHECK(stapgen_find_rx_packet(key_of(packet.skb.head)) == nullptr);
    CHECK(stapgen_rx_at_unwanted(sk, &packet.skb, 1, &fault));
    CHECK(fault == nullptr);
    want({}, {}, {});
}

/// A frame from its network header on.
struct Raw {
    std::vector<unsigned char> bytes;
    sk_buff skb{};
    Raw(u16 type, std::vector<unsigned char> of) : bytes(std::move(of)) {
        bytes.insert(bytes.begin(), 16, 0);
        skb.head = bytes.data();
        skb.data = skb.head + 16;
        skb.network_header = 16;
        skb.mac_header = 0xffff;
        skb.protocol = htons(type);
        skb.len = static_cast<u32>(bytes.size()) - 16;
    }
};
std::string described(const Raw& raw) {
    stapgen_packet_kind kind;
    const void* fault = nullptr;
    char text[32];
    stapgen_packet_kind_of(&raw.skb, &kind, &fault);
    stapgen_write_protocol(&kind, text, sizeof(text));
    CHECK(fault == nullptr);
    return std::string(text) + " " + std::to_string(kind.port);
}
std::vector<unsigned char> ip4(int protocol, int fragment, std::vector<unsigned char> behind) {
    std::vector<unsigned char> ip{0x45,
                                  0,
                                  0,
                                  60,
                                  0,
                                  0,
                                  static_cast<unsigned char>(fragment >> 8),
                                  static_cast<unsigned char>(fragment),
                                  64,
                                  static_cast<unsigned char>(protocol)};
    ip.resize(20);
    ip.insert(ip.end(), behind.begin(), behind.end());
    return ip;
}
std::vector<unsigned char> ip6(int next, std::vector<unsigned char> behind) {
    std::vector<unsigned char> ip{0x60, 0, 0, 0, 0, 20, static_cast<unsigned char>(next), 64};
    ip.resize(40);
    ip.insert(ip.end(), behind.begin(), behind.end());
    return ip;
}

TEST_CASE("the protocol of a packet, and the port that it is for") {
    const std::vector<unsigned char> ports{0x10, 0x92, 0x01, 0xbb, 0, 0, 0, 0};
    CHECK(described({ETH_P_IP, ip4(6, 0, ports)}) == "\ttcp 443");
    CHECK(described({ETH_P_IP, ip4(17, 0x2000, ports)}) == "\tudp 443");
    CHECK(described({ETH_P_IP, ip4(17, 0x2001, ports)}) == "\tudp 0");
    CHECK(described({ETH_P_IP, ip4(1, 0, ports)}) == "\ticmp 0");
    CHECK(described({ETH_P_IP, ip4(89, 0, ports)}) == "\tip-89 0");
    CHECK(described({ETH_P_IP, ip4(6, 0, {1, 2})}) == "\ttcp 0");
    CHECK(described({ETH_P_IPV6, ip6(6, ports)}) == "\ttcp 443");
    CHECK(described({ETH_P_IPV6, ip6(58, ports)}) == "\tipv6-icmp 0");
    std::vector<unsigned char> hops{17, 0, 5, 2, 0, 0, 1, 0}, fragment{17, 0, 0, 1, 0, 0, 0, 9},
        later{17, 0, 5, 0xa9, 0, 0, 0, 9}, endless{0, 0, 0, 0, 0, 0, 0, 0};
    hops.insert(hops.end(), ports.begin(), ports.end());
    fragment.insert(fragment.end(), ports.begin(), ports.end());
    later.insert(later.end(), ports.begin(), ports.end());
    CHECK(described({ETH_P_IPV6, ip6(0, hops)}) == "\tudp 443");
    CHECK(described({ETH_P_IPV6, ip6(44, fragment)}) == "\tudp 443");
    CHECK(described({ETH_P_IPV6, ip6(44, later)}) == "\tudp 0");
    CHECK(described({ETH_P_IPV6, ip6(0, endless)}) == "\tip-0 0");
    CHECK(described({ETH_P_ARP, {0, 1, 8, 0, 6, 4, 0, 1}}) == "\tarp 0");
    CHECK(described({0, {1, 2, 3, 4}}) == "\t- 0");
}

}  // namespace
