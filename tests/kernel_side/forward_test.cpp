// SPDX-License-Identifier: GPL-2.0-or-later
// Packets that are passed on: each is one record, whatever happens to its skb and its head on the way.
#include <doctest/doctest.h>

#include <deque>
#include <map>

#define STAPGEN_FORWARD_BITS 3
#define STAPGEN_FIELDS 7
#include "world.h"

// world.h is first: it has what the C is made of.
#include "c/aggregate_forward.h"
#include "c/print_forward.h"

int skb_copy_bits(const struct sk_buff*, int, void*, int) {
    return -1;
}

namespace {

/// A packet that came by a device, and what a test does with it.
struct Router {
    std::deque<Packet> packets;
    net_device in{}, out{};
    const void* fault = nullptr;

    Router() {
        std::memset(&stapgen_counts, 0, sizeof(stapgen_counts));
        std::memset(stapgen_arrivals_places, 0, sizeof(stapgen_arrivals_places));
        std::memset(stapgen_forwards_places, 0, sizeof(stapgen_forwards_places));
        std::memset(stapgen_arrival_heads, 0, sizeof(stapgen_arrival_heads));
        std::memset(stapgen_forward_heads, 0, sizeof(stapgen_forward_heads));
        std::memset(stapgen_forward_cuts, 0, sizeof(stapgen_forward_cuts));
        for (auto* device : {&in, &out}) {
            std::snprintf(device->name, sizeof(device->name), device == &in ? "veth0" : "eth1");
            device->adj_list.lower = {&device->adj_list.lower, &device->adj_list.lower};
        }
    }
    ~Router() { CHECK(fault == nullptr); }

    Packet& packet() {
        auto& packet = packets.emplace_back(false, 17u);
        packet.skb.protocol = htons(ETH_P_IP);
        return packet;
    }
    sk_buff* arrive(Packet& packet) {
        packet.skb.dev = &in;
        stapgen_forward_at_driver(&packet.skb, 0, &fault);
        packet.skb.skb_iif = 2;
        return &packet.skb;
    }
    void into_ip(const sk_buff* skb) { stapgen_forward_at_ip(skb, &fault); }
    int route(const sk_buff* skb) { return stapgen_forward_at_route(skb, &fault); }
    void output(const sk_buff* skb) {
        stapgen_forward_at_output(skb, &fault);
        stapgen_forward_at_finish(skb, &fault);
    }
    int queue(sk_buff* skb) {
        skb->dev = &out;
        return stapgen_forward_at_queue(skb, &fault);
    }
    const stapgen_forwarded* leave(const sk_buff* skb, bool needs_device = false) {
        return stapgen_pop_forwarded(skb, needs_device, &fault);
    }
    /// The whole way of a packet, until it leaves.
    sk_buff* pass() {
        auto* const skb = arrive(packet());
        into_ip(skb);
        route(skb);
        output(skb);
        queue(skb);
        leave(skb);
        return skb;
    }
    bool drop(const sk_buff* skb) { return stapgen_forward_dropped(skb, &fault) != 0; }
};

std::map<std::string, long> counts() {
    std::map<std::string, long> all;
    stapgen_snapshot_counts();
    for (int i = 0; i < STAPGEN_COUNTS; ++i) {
        const std::string name = stapgen_counter_names[i];
        if (stapgen_snapshot.of[i] != 0) all[name.substr(name.find('_') + 1)] = stapgen_snapshot.of[i];
    }
    return all;
}
using Counts = std::map<std::string, long>;

/// Moves a packet's bytes to another head.
void move_head(sk_buff* skb, Packet& to) {
    std::memcpy(to.bytes, skb->head, sizeof(to.bytes));
    skb->head = to.bytes;
    skb->data = to.bytes + 16;
}

}  // namespace

TEST_CASE("a routed packet has each stage, whose sum is the time from the driver to the other one") {
    Router router;
    auto* const skb = router.arrive(router.packet());
    const auto driver = shim_time;
    shim_time = driver + 100;
    router.into_ip(skb);
    shim_time = driver + 1'100;
    CHECK(router.route(skb));
    shim_time = driver + 11'100;
    stapgen_forward_at_output(skb, &router.fault);
    shim_time = driver + 111'100;
    stapgen_forward_at_finish(skb, &router.fault);
    shim_time = driver + 1'111'100;
    CHECK(router.queue(skb) == STAPGEN_FORWARDED);
    shim_time = driver + 11'111'100;
    REQUIRE(router.leave(skb) != nullptr);
    s64 stages[STAPGEN_FORWARD_STAGES];
    stapgen_forward_stages(STAPGEN_THIS_CPU(stapgen_forward_left), driver + 11'111'100, stages);
    const std::vector<s64> nearly{101, 1'000, 10'000, 100'000, 1'000'000, -1, 10'000'000};
    for (std::size_t i = 0; i < nearly.size(); ++i) {
        CAPTURE(i);
        CHECK(stages[i] >= nearly[i] - 3);
        CHECK(stages[i] <= nearly[i] + 3);
    }
    CHECK(counts() == Counts{{"seen", 1}, {"reported", 1}});
    CHECK(router.leave(skb) == nullptr);  // once
}

TEST_CASE("a record names both devices, how, both ends and the bytes") {
    Router router;
    auto* const skb = router.pass();
    shim_printed.clear();
    stapgen_print_forwarded("forward", skb, shim_time, &router.fault);
    CHECK(shim_printed.find("\tveth0\teth1\trouted\t0.ffff0a000001:4001\t0.ffff0a000002:11211\t45\t") !=
          std::string::npos);
    CHECK(shim_printed.ends_with("\n"));
    // Neither TCP nor UDP; not IP.
    skb->head[16 + 9] = 1;
    shim_printed.clear();
    stapgen_print_forwarded("forward", skb, shim_time, &router.fault);
    CHECK(shim_printed.find("\t0.ffff0a000001:0\t0.ffff0a000002:0\t45\t") != std::string::npos);
    skb->protocol = htons(ETH_P_ARP);
    skb->network_header = 0;
    shim_printed.clear();
    stapgen_print_forwarded("forward", skb, shim_time, &router.fault);
    CHECK(shim_printed.find("\t0.0:0\t0.0:0\t45\t") != std::string::npos);
}

TEST_CASE("a packet for this machine is none, nor is one of its own with the same skb and head") {
    Router router;
    auto& packet = router.packet();
    auto* const skb = router.arrive(packet);
    router.into_ip(skb);
    // Taken by a socket, without a word; the same memory is used for an answer.
    skb->skb_iif = 0;
    router.output(skb);
    CHECK(router.queue(skb) == STAPGEN_NOT_FORWARDED);
    CHECK(router.leave(skb) == nullptr);
    CHECK_FALSE(router.drop(skb));
    CHECK(counts().empty());
}

TEST_CASE("what is not routed is bridged where it came by a bridge's port, else redirected") {
    for (const bool is_port : {true, false}) {
        Router router;
        router.in.priv_flags = is_port ? 1 : 0;
        auto* const skb = router.arrive(router.packet());
        CHECK(router.queue(skb) == STAPGEN_NOT_ROUTED);
        const auto* const left = router.leave(skb);
        REQUIRE(left != nullptr);
        CHECK(left->how == (is_port ? STAPGEN_BRIDGED : STAPGEN_REDIRECTED));
        s64 stages[STAPGEN_FORWARD_STAGES];
        stapgen_forward_stages(left, shim_time, stages);
        for (int i = 0; i < STAPGEN_FORWARD_STAGES; ++i)
            CHECK((stages[i] >= 0) == (i == STAPGEN_FORWARD_BRIDGE || i == STAPGEN_FORWARD_QDISC));
    }
}

TEST_CASE("a bridge that passes a packet up hands it over again, and it is one") {
    Router router;
    router.in.priv_flags = 1;
    auto* const skb = router.arrive(router.packet());
    const auto first = shim_time;
    shim_time += 5'000;
    net_device bridge{};
    std::snprintf(bridge.name, sizeof(bridge.name), "br0");
    skb->dev = &bridge;
    stapgen_forward_at_driver(skb, 0, &router.fault);
    router.into_ip(skb);
    router.route(skb);
    router.output(skb);
    // Out by a bridge, too: the queue of its port counts.
    router.out.adj_list.lower.next = &bridge.adj_list.lower;
    router.queue(skb);
    CHECK(router.leave(skb) == nullptr);
    router.out.adj_list.lower.next = &router.out.adj_list.lower;
    router.queue(skb);
    const auto* const left = router.leave(skb);
    REQUIRE(left != nullptr);
    CHECK(left->driver <= first);
    u64 name[2] = {};
    std::memcpy(name, "veth0", 5);
    CHECK(left->device[0] == name[0]);
    CHECK(counts() == Counts{{"seen", 1}, {"reported", 1}});
}

TEST_CASE("where a packet socket listens IP goes on with a clone, and forwarding moves its head") {
    Router router;
    auto& packet = router.packet();
    router.arrive(packet);
    // Another skb with the same head.
    auto& clone = router.packet();
    clone.skb = packet.skb;
    router.into_ip(&clone.skb);
    CHECK(router.route(&clone.skb));
    auto& elsewhere = router.packet();
    move_head(&clone.skb, elsewhere);
    router.output(&clone.skb);
    router.queue(&clone.skb);
    // The capture's own is freed, dropped or not.
    CHECK_FALSE(router.drop(&packet.skb));
    const auto* const left = router.leave(&clone.skb);
    REQUIRE(left != nullptr);
    CHECK(left->ip > 0);
    CHECK(left->finish > 0);
    CHECK(counts() == Counts{{"seen", 1}, {"reported", 1}});
}

TEST_CASE("what a tunnel on top of a device sends is the packet still") {
    Router router;
    auto* const skb = router.arrive(router.packet());
    router.into_ip(skb);
    router.route(skb);
    router.output(skb);
    net_device lower{};
    router.out.adj_list.lower.next = &lower.adj_list.lower;
    router.queue(skb);
    CHECK(router.leave(skb) == nullptr);
    const auto tunnel = shim_time;
    shim_time += 1'000;
    skb->skb_iif = 0;
    router.output(skb);
    router.out.adj_list.lower.next = &router.out.adj_list.lower;
    CHECK(router.queue(skb) == STAPGEN_FORWARDED);
    const auto* const left = router.leave(skb);
    REQUIRE(left != nullptr);
    CHECK(left->finish < tunnel);
    CHECK(left->queued > tunnel);
    CHECK(counts() == Counts{{"seen", 1}, {"reported", 1}});
}

TEST_CASE("of what a bridge floods the first copy that leaves is the packet") {
    Router router;
    router.in.priv_flags = 1;
    auto& packet = router.packet();
    router.arrive(packet);
    std::vector<Packet*> copies;
    for (int i = 0; i < 3; ++i) {
        copies.push_back(&router.packet());
        copies.back()->skb = packet.skb;
    }
    int left = 0;
    for (auto* copy : copies) {
        router.queue(&copy->skb);
        left += router.leave(&copy->skb) != nullptr;
    }
    CHECK(left == 1);
    CHECK(counts() == Counts{{"seen", 1}, {"reported", 1}, {"copies", 2}});
}

TEST_CASE("a packet that is cut in software leaves with its first piece") {
    Router router;
    auto* const skb = router.arrive(router.packet());
    router.into_ip(skb);
    router.route(skb);
    router.output(skb);
    router.queue(skb);
    auto &first = router.packet(), &second = router.packet();
    std::memcpy(first.bytes + 18, skb->head + 18, 40);
    for (auto* piece : {&first, &second}) {
        piece->skb.skb_iif = 2;
        piece->skb.dev = &router.out;
    }
    stapgen_forward_cut(skb, &first.skb, &router.fault);
    CHECK(router.leave(&first.skb) != nullptr);
    CHECK(router.leave(&second.skb) == nullptr);
    CHECK(counts() == Counts{{"seen", 1}, {"reported", 1}});
}

TEST_CASE("a drop counts where the packet was known to be passed on, or came by a bridge's port") {
    Router router;
    auto* const early = router.arrive(router.packet());
    router.into_ip(early);
    CHECK_FALSE(router.drop(early));  // who knows where it wanted to
    auto* const late = router.arrive(router.packet());
    router.into_ip(late);
    router.route(late);
    CHECK(router.drop(late));
    CHECK_FALSE(router.drop(late));
    router.in.priv_flags = 1;
    auto* const bridged = router.arrive(router.packet());
    CHECK(router.drop(bridged));
    auto* const passed_up = router.arrive(router.packet());
    router.into_ip(passed_up);
    CHECK_FALSE(router.drop(passed_up));
    // A capture's copy.
    auto& packet = router.packet();
    auto* const shared = router.arrive(packet);
    const skb_shared_info two{{2}};
    std::memcpy(packet.bytes + packet.skb.end, &two, sizeof(two));
    CHECK_FALSE(router.drop(shared));
    CHECK(counts() == Counts{{"seen", 2}, {"dropped", 2}});
}

TEST_CASE("what a filter leaves out is counted once, whatever becomes of it") {
    Router router;
    for (const bool is_dropped : {false, true}) {
        auto* const skb = router.arrive(router.packet());
        router.into_ip(skb);
        router.route(skb);
        stapgen_forward_unwanted(skb, &router.fault);
        router.output(skb);
        if (is_dropped) {
            CHECK_FALSE(router.drop(skb));
        } else {
            router.queue(skb);
            CHECK(router.leave(skb) == nullptr);
        }
    }
    CHECK(counts() == Counts{{"seen", 2}, {"filtered", 2}});
    auto* const skb = router.arrive(router.packet());
    router.route(skb);
    router.queue(skb);
    CHECK(router.leave(skb, true) == nullptr);
    auto* const wanted = router.arrive(router.packet());
    router.route(wanted);
    router.queue(wanted);
    stapgen_forward_has_wanted_device(wanted, &router.fault);
    CHECK(router.leave(wanted, true) != nullptr);
    CHECK(counts() == Counts{{"seen", 4}, {"filtered", 3}, {"reported", 1}});
}

TEST_CASE("each packet that is passed on is in the account, also where the table is full") {
    Router router;
    constexpr int packets = 301;
    std::vector<sk_buff*> way;
    for (int i = 0; i < packets; ++i) {
        way.push_back(router.arrive(router.packet()));
        router.route(way.back());
    }
    int left = 0;
    for (auto* skb : way) {
        router.queue(skb);
        left += router.leave(skb) != nullptr;
    }
    auto all = counts();
    CHECK(all["seen"] == packets);
    CHECK(all["reported"] == left);
    CHECK(all["reported"] + all["evicted"] == packets);
    CHECK(left == STAPGEN_PLACES << STAPGEN_FORWARD_BITS);
    // Of one that had come before the measurement began.
    auto& packet = router.packet();
    packet.skb.skb_iif = 2;
    CHECK_FALSE(router.route(&packet.skb));
    CHECK(counts()["no_driver"] == 1);
    CHECK(counts()["seen"] == packets + 1);
}

TEST_CASE("an skb that comes again ends the way of the packet before") {
    Router router;
    auto& packet = router.packet();
    router.arrive(packet);
    router.route(&packet.skb);
    // Stolen there (nf_queue); its memory is used for one that is for this machine and is dropped.
    packet.skb.skb_iif = 0;
    router.arrive(packet);
    CHECK_FALSE(router.drop(&packet.skb));
    CHECK(counts() == Counts{{"seen", 1}});
}

TEST_CASE("aggregated, a packet's stages are in the bins of the fields of its record") {
    Router router;
    router.pass();
    CHECK(stapgen_aggregate_forwarded(shim_time) == 1);
    shim_printed.clear();
    stapgen_print_histogram("forward", "qdisc", STAPGEN_FORWARD_QDISC);
    CHECK(shim_printed.find("sum\tforward\tqdisc\t1\t") != std::string::npos);
    shim_printed.clear();
    stapgen_print_histogram("forward", "bridge", STAPGEN_FORWARD_BRIDGE);
    CHECK(shim_printed.empty());
    CHECK(stapgen_printed_records(0) == 0);
    stapgen_print_splits("forward", "-", 0);
    CHECK(stapgen_printed_records(0) == 1);
}
