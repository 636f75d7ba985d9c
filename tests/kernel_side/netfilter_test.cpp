// SPDX-License-Identifier: GPL-2.0-or-later
// Which hook, table and chain drops a packet: tapsets/c/netfilter.h.
#include <doctest/doctest.h>

#include <string>

#include "world.h"

// world.h is before it: it has what the C is made of.
#include "c/netfilter.h"

module shim_module{"stap_0123456789"};

namespace {

constexpr unsigned long in_chain = 0xffffffffc0a00101, at_hook = 0xffffffff81a00011, in_udp = 0xffffffff81a00031,
                        in_bridge = 0xffffffff81a00051, in_queue = 0xffffffff81a00071;
enum { IN = 1, FORWARD = 2, OUT = 3 };

}  // namespace

void shim_name_function(char* name, size_t size, unsigned long address) {
    std::snprintf(name, size, "%s",
                  address == in_chain - 1    ? "nft_do_chain [nf_tables]"
                  : address == at_hook - 1   ? "nf_hook_slow"
                  : address == in_queue - 1  ? "nf_queue"
                  : address == in_bridge - 1 ? "br_handle_frame [bridge]"
                                             : "udp_queue_rcv_one_skb");
}

namespace {

struct Chain {
    Chain(std::string table_name, std::string chain_name, unsigned family, unsigned hook)
        : table_text(std::move(table_name)), chain_text(std::move(chain_name)) {
        table.family = static_cast<u16>(family);
        table.name = table_text.data();
        base.ops.hooknum = hook;
        base.chain = {&table, chain_text.data()};
    }
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;
    ~Chain() = default;

    std::string table_text, chain_text;
    nft_table table{};
    struct nft_base_chain base {};  // a function has that name, too
};

struct World {
    World() {
        std::memset(stapgen_filtered_packets_places, 0, sizeof(stapgen_filtered_packets_places));
        std::memset(stapgen_verdicts_places, 0, sizeof(stapgen_verdicts_places));
        std::memset(stapgen_last_freeing, 0, sizeof(stapgen_last_freeing));
        shim_cpu = shim_task = shim_serving_softirq = 0;
        std::strcpy(legacy.name, "filter");
    }
    static void enters(const sk_buff& packet, const Chain& chain) {
        stapgen_enters_chain(&packet, &chain.base.chain, 0);
    }
    void enters_iptables(const sk_buff& packet) const { stapgen_enters_chain(&packet, &legacy, 1); }
    static void returns(bool drops) { stapgen_note_verdict(drops ? STAPGEN_CHAIN_DROPS : STAPGEN_NO_VERDICT); }
    static std::string drop(const sk_buff& packet, unsigned long location) {
        char text[256];
        const void* fault = nullptr;
        stapgen_netfilter_of(&packet, location, text, sizeof(text), &fault);
        CHECK(!fault);
        return text;
    }

    sk_buff packet{}, other{};
    xt_table legacy{};
    Chain first{"lab", "early", STAPGEN_NF_IP, IN}, last{"filter", "LAB-IN", STAPGEN_NF_IP, IN};
    Chain inet{"all", "fwd", STAPGEN_NF_INET, FORWARD}, device{"edge", "in", STAPGEN_NF_NETDEV, 0};
    Chain bridged{"br", "pre", STAPGEN_NF_BRIDGE, 0};
};

TEST_CASE_FIXTURE(World, "what nft frees in its chain is of the chain that the packet entered last") {
    stapgen_comes_to_hook(&packet, IN, STAPGEN_NF_IP);
    enters(packet, first);
    enters(packet, last);
    CHECK(drop(packet, in_chain) == "input ip filter LAB-IN");
    stapgen_comes_to_hook(&other, FORWARD, STAPGEN_NF_IP6);
    enters(other, inet);
    CHECK(drop(other, in_chain) == "forward inet all fwd");
    enters(other, device);
    CHECK(drop(other, in_chain) == "ingress netdev edge in");
}

TEST_CASE_FIXTURE(World, "what a queue frees where nobody listens is of the chain that gave it the packet") {
    stapgen_comes_to_hook(&packet, IN, STAPGEN_NF_IP);
    enters(packet, last);
    CHECK(drop(packet, in_queue) == "input ip filter LAB-IN");
    stapgen_comes_to_hook(&other, FORWARD, STAPGEN_NF_IP6);
    enters_iptables(other);
    CHECK(drop(other, in_queue) == "forward ip6tables filter FORWARD");
}

TEST_CASE_FIXTURE(World, "a drop elsewhere is not netfilter's, whatever chains the packet had passed") {
    stapgen_comes_to_hook(&packet, IN, STAPGEN_NF_IP);
    enters(packet, last);
    CHECK(drop(packet, in_udp).empty());
}

TEST_CASE_FIXTURE(World, "behind a chain that accepted, and in no chain, the hook alone is named") {
    stapgen_comes_to_hook(&packet, IN, STAPGEN_NF_IP);
    enters(packet, last);
    returns(false);
    CHECK(drop(packet, at_hook) == "input ip");
    enters(packet, last);
    returns(true);
    CHECK(drop(packet, at_hook) == "input ip filter LAB-IN");
    stapgen_comes_to_hook(&packet, OUT, STAPGEN_NF_IP6);
    CHECK(drop(packet, at_hook) == "output ip6");
    // A verdict whose drop was not seen counts until the next hook.
    enters(packet, last);
    returns(true);
    stapgen_comes_to_hook(&packet, OUT, STAPGEN_NF_ARP);
    CHECK(drop(packet, at_hook) == "unknown arp");
}

TEST_CASE_FIXTURE(World, "iptables: the table, and the chain of the hook") {
    stapgen_comes_to_hook(&packet, FORWARD, STAPGEN_NF_IP);
    enters_iptables(packet);
    returns(true);
    CHECK(drop(packet, at_hook) == "forward iptables filter FORWARD");
    stapgen_comes_to_hook(&packet, OUT, STAPGEN_NF_IP6);
    enters_iptables(packet);
    returns(true);
    CHECK(drop(packet, at_hook) == "output ip6tables filter OUTPUT");
}

TEST_CASE_FIXTURE(World, "a chain that rejects: the answer passes hooks of its own in between") {
    Chain answers("filter", "LAB-OUT", STAPGEN_NF_IP, OUT);
    stapgen_comes_to_hook(&packet, IN, STAPGEN_NF_IP);
    enters_iptables(packet);
    stapgen_comes_to_hook(&other, OUT, STAPGEN_NF_IP);
    enters(other, answers);
    SUBCASE("and are accepted there") {
        returns(false);
    }
    SUBCASE("and are dropped there") {
        returns(true);
        CHECK(drop(other, at_hook) == "output ip filter LAB-OUT");
    }
    returns(true);
    CHECK(drop(packet, at_hook) == "input iptables filter INPUT");
}

TEST_CASE_FIXTURE(World, "two threads, and the softirq in one, have verdicts of their own") {
    stapgen_comes_to_hook(&packet, IN, STAPGEN_NF_IP);
    enters(packet, last);
    returns(true);
    // It is interrupted, and goes on elsewhere.
    shim_serving_softirq = 1;
    stapgen_comes_to_hook(&other, FORWARD, STAPGEN_NF_IP);
    CHECK(drop(other, at_hook) == "forward ip");
    shim_serving_softirq = 0;
    shim_task = 1;
    stapgen_comes_to_hook(&other, FORWARD, STAPGEN_NF_IP);
    enters(other, inet);
    CHECK(drop(other, at_hook) == "forward ip");
    shim_task = 0;
    shim_cpu = 3;
    CHECK(drop(packet, at_hook) == "input ip filter LAB-IN");
}

TEST_CASE_FIXTURE(World, "conntrack: a full table, a connection that could not be added") {
    stapgen_comes_to_hook(&packet, 0, STAPGEN_NF_IP);
    stapgen_note_verdict(STAPGEN_TABLE_FULL);
    CHECK(drop(packet, at_hook) == "prerouting ip conntrack table-full");
    CHECK(drop(packet, at_hook) == "prerouting ip");
    stapgen_comes_to_hook(&packet, 4, STAPGEN_NF_IP6);
    enters(packet, last);
    returns(false);
    stapgen_note_verdict(STAPGEN_INSERT_FAILED);
    CHECK(drop(packet, at_hook) == "postrouting ip6 conntrack insert-failed");
    // A program adds a connection to a full table: no packet is dropped for it.
    stapgen_note_verdict(STAPGEN_TABLE_FULL);
    stapgen_comes_to_hook(&packet, IN, STAPGEN_NF_IP);
    CHECK(drop(packet, at_hook) == "input ip");
}

TEST_CASE_FIXTURE(World, "a bridge drops for other reasons as well") {
    enters(packet, bridged);
    returns(false);
    CHECK(drop(packet, in_bridge).empty());
    enters(packet, bridged);
    returns(true);
    CHECK(drop(packet, in_bridge) == "prerouting bridge br pre");
    enters(packet, bridged);
    CHECK(drop(packet, in_chain) == "prerouting bridge br pre");
}

TEST_CASE_FIXTURE(World, "what was not seen has no name of another packet's") {
    CHECK(drop(packet, in_chain) == "unknown");
    CHECK(drop(packet, at_hook) == "unknown");
    std::vector<sk_buff> many(20000);
    stapgen_comes_to_hook(&packet, IN, STAPGEN_NF_IP);
    enters(packet, last);
    jiffies = 1;
    for (auto& one : many) {
        stapgen_comes_to_hook(&one, FORWARD, STAPGEN_NF_IP6);
        enters(one, inet);
    }
    CHECK(drop(packet, in_chain) == "unknown");
    CHECK(drop(many.back(), in_chain) == "forward inet all fwd");
    jiffies = 0;
}

TEST_CASE_FIXTURE(World, "names that are too long are cut") {
    Chain chain(std::string(200, 't'), std::string(200, 'c'), STAPGEN_NF_INET, IN);
    enters(packet, chain);
    CHECK(drop(packet, in_chain) == "input inet " + std::string(63, 't') + " " + std::string(63, 'c'));
}

}  // namespace
