// SPDX-License-Identifier: GPL-2.0-or-later
// The machine that filters run on, and the frame that they read, against libpcap's own.
#include "filter/filter.h"

#include <doctest/doctest.h>

#include "frame_world.h"

namespace {

using Bits = std::initializer_list<std::uint8_t>;

void add(Frame& frame, std::initializer_list<int> bytes) {
    for (const int byte : bytes)
        frame.push_back(static_cast<std::uint8_t>(byte));
}

/// Of Ethernet, with IP and what is below drawn: both versions, options, fragments, extension headers, ARP, LLDP,
/// frames of 802.3, tags, and rubbish. Addresses and ports are few, so that filters meet them.
class Traffic {
  public:
    explicit Traffic(unsigned seed) : draw_(seed) {}

    Frame next(bool tagged = false) {
        Frame frame;
        frame.assign(6, 0xff);
        if (below(8)) frame = {0x52, 0x54, 0, 0, 0, static_cast<std::uint8_t>(below(3))};
        add(frame, {0x52, 0x54, 0, 0, 0, below(3)});
        if (tagged) add(frame, {0x81, 0, 0, pick({10, 11})});
        switch (below(10)) {
            case 0:
                arp(frame);
                break;
            case 1:
                add(frame, {0x88, 0xcc, 2, 7, 4});
                break;
            case 2:
                add(frame, {0, 46, 0x42, 0x42, 3});
                break;
            case 3:
                add(frame, {below(256), below(256)});
                break;
            case 4:
            case 5:
            case 6:
                ip6(frame);
                break;
            default:
                ip4(frame);
        }
        for (int left = below(80); left > 0; --left)
            add(frame, {below(256)});
        return frame;
    }
    int below(int n) { return static_cast<int>(draw_() % static_cast<unsigned>(n)); }

  private:
    int pick(std::initializer_list<int> of) { return of.begin()[below(static_cast<int>(of.size()))]; }

    void arp(Frame& frame) {
        add(frame, {8, 6, 0, 1, 8, 0, 6, 4, 0, pick({1, 2})});
        add(frame, {0x52, 0x54, 0, 0, 0, 1, 10, 0, 0, below(4)});
        add(frame, {0, 0, 0, 0, 0, 0, 10, 0, 0, below(4)});
    }
    void ip4(Frame& frame) {
        const int words = below(4) ? 5 : 5 + below(4), protocol = pick({6, 6, 6, 17, 17, 1, 132, 2, 50});
        add(frame, {8, 0, 0x40 | words, below(4), below(2), below(256), 0, below(4)});
        add(frame, {pick({0, 0, 0x20, 0x40}), pick({0, 0, 0, 5}), 64, protocol, 0, 0});
        add(frame, {10, pick({0, 0, 1}), 0, below(4)});
        add(frame, {pick({10, 192, 224}), pick({0, 168}), 0, below(4)});
        for (int i = 5; i < words; ++i)
            add(frame, {1, 1, 1, 0});
        payload(frame, protocol);
    }
    void ip6(Frame& frame) {
        const int protocol = pick({6, 6, 17, 58, 132}), before = pick({0, 0, 0, 44, 60, 43});
        add(frame, {0x86, 0xdd, 0x60, 0, 0, 0, 0, 40, before ? before : protocol, 64});
        for (int i = 0; i < 2; ++i)
            add(frame, {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, below(4)});
        if (before) add(frame, {protocol, 0, 0, below(2), 0, 0, 0, 0});
        payload(frame, protocol);
    }
    void payload(Frame& frame, int protocol) {
        if (protocol == 1 || protocol == 58) return add(frame, {pick({8, 0, 3, 128, 135}), 0, 0, 0, 0, 1, 0, 1});
        for (int i = 0; i < 2; ++i)
            add(frame, {pick({0, 0, 1, 0x2b}), pick({53, 80, 187, 203})});
        if (protocol == 17) add(frame, {0, 8 + below(64), 0, 0});
        if (protocol == 6)
            add(frame,
                {0, 0, 0, below(8), 0, 0, 0, 0, 0x50, pick({2, 16, 17, 18, 24}), 2, 0, 0, 0, 0, 0, 'G', 'E', 'T', ' '});
    }

    std::mt19937 draw_;
};

const std::vector<std::string> expressions{
    "ip",
    "ip6",
    "arp",
    "not arp",
    "tcp",
    "udp",
    "icmp",
    "icmp6",
    "sctp",
    "tcp port 443",
    "udp port 53",
    "port 53 or port 80",
    "src port 443",
    "dst port 80 and tcp",
    "portrange 50-90",
    "not port 22",
    "host 10.0.0.1",
    "src host 10.0.0.2",
    "net 10.0.0.0/8",
    "net 192.168.0.0 mask 255.255.0.0",
    "host 2001:db8::1",
    "net 2001:db8::/32",
    "tcp port 443 and net 10.0.0.0/8",
    "host 10.0.0.1 and (tcp port 80 or udp port 53)",
    "ether host 52:54:00:00:00:01",
    "ether src 52:54:00:00:00:02",
    "ether broadcast",
    "ether multicast",
    "ip multicast",
    "ether proto 0x88cc",
    "ether[12:2] = 0x800",
    "ether[0] & 1 != 0",
    "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0",
    "tcp[tcpflags] == tcp-ack",
    "tcp[((tcp[12:1] & 0xf0) >> 2):4] = 0x47455420",
    "ip[8] < 65",
    "ip[6:2] & 0x1fff != 0",
    "ip[0] & 0xf != 5",
    "ip[2:2] - ((ip[0] & 0xf) << 2) > 40",
    "icmp[icmptype] = icmp-echo",
    "icmp6[icmp6type] == 135",
    "ip6[40] = 128",
    "ip6[6] = 44",
    "ip6 proto 6",
    "ip proto 50",
    "len > 100",
    "len <= 60 and not tcp",
    "greater 80",
    "less 90",
    "udp[4:2] > 40",
    "arp[6:2] = 1",
    "arp host 10.0.0.3",
    "vlan",
    "tcp and not vlan",
    "vlan 10",
    "vlan 10 and tcp port 443",
    "tcp port 443 or (vlan and tcp port 443)",
    "mpls",
    "stp",
    "ip[1] * 3 % 7 = 6",
};

bool asks_for_vlan(const std::vector<std::uint64_t>& program) {
    return (program.front() & STAPGEN_FILTER_VLAN) != 0;
}

}  // namespace

TEST_CASE("each expression says of each packet what libpcap says, wherever the packet's first part ends") {
    Traffic traffic(17);
    for (const auto& expression : expressions) {
        CAPTURE(expression);
        const auto program = stapgen::filter::compile(expression);
        REQUIRE(program);
        int passed = 0, left = 0;
        for (int i = 0; i < 2003; ++i) {
            auto frame = traffic.next(traffic.below(8) == 0);
            if (traffic.below(4) == 0)
                frame.resize(ETH_HLEN + traffic.below(static_cast<int>(frame.size()) - ETH_HLEN + 1));
            const bool expected = oracle_passes(expression, frame);
            const FramePacket packet(frame, traffic.below(2) ? frame.size() : traffic.below(120));
            CAPTURE(i);
            REQUIRE(passes(*program, packet) == expected);
            ++(expected ? passed : left);
        }
        // A filter that all or none pass shows nothing.
        CHECK(left > 0);
        if (expression != "mpls" && expression != "stp") CHECK(passed > 0);
    }
    CHECK(expressions.size() >= 60);
}

TEST_CASE("programs of any instructions do what libpcap's machine does") {
    for (unsigned seed = 1; seed <= 4001; ++seed) {
        CAPTURE(seed);
        const auto bytes = drawn_bytes(seed, 401);
        REQUIRE_NOTHROW(ProgramWorld::run({bytes.data(), bytes.size()}));
    }
}

TEST_CASE("a tag that is kept beside the packet is in the frame where the filter looks for tags") {
    Traffic traffic(19);
    for (const auto& expression : expressions) {
        CAPTURE(expression);
        const auto program = stapgen::filter::compile(expression).value();
        for (int i = 0; i < 401; ++i) {
            const auto tagged = traffic.next(true);
            auto frame = tagged;
            frame.erase(frame.begin() + 12, frame.begin() + 16);
            FramePacket packet(frame, traffic.below(80));
            packet.skb.vlan_proto = htons(0x8100);
            packet.skb.vlan_tci = tagged[14] << 8 | tagged[15];
            CHECK(passes(program, packet) == oracle_passes(expression, asks_for_vlan(program) ? tagged : frame));
        }
    }
}

TEST_CASE("where there is no MAC header the addresses are zeros, and the type is the packet's") {
    Traffic traffic(23);
    for (const auto& expression : expressions) {
        CAPTURE(expression);
        const auto program = stapgen::filter::compile(expression).value();
        for (int i = 0; i < 401; ++i) {
            auto frame = traffic.next();
            const int type = frame[12] << 8 | frame[13];
            if (type != 0x800 && type != 0x86dd && type != 0x806) continue;
            FramePacket packet(frame, traffic.below(80) + ETH_HLEN + 1, false);
            // TCP's own, before IP has noted what it is.
            if (type != 0x806 && traffic.below(2)) packet.skb.protocol = 0;
            std::fill_n(frame.begin(), 12, 0);
            CHECK(passes(program, packet) == oracle_passes(expression, frame));
        }
    }
}

namespace {
Frame segment() {
    Frame frame(12);
    add(frame, {8, 0, 0x45, 0, 0, 44, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 187, 0x90, 0, 0, 0, 0, 1});
    add(frame, {0, 0, 0, 0, 0x50, 2, 2, 0, 0, 0, 0, 0, 'G', 'E', 'T', ' '});
    return frame;
}
bool matches(const std::string& expression, const FramePacket& packet) {
    return passes(stapgen::filter::compile(expression).value(), packet);
}
}  // namespace

TEST_CASE("the network header is found wherever skb->data points, and where it is not noted yet") {
    const auto frame = segment();
    const auto moved = [&](int data, auto change) {
        FramePacket packet(frame, frame.size());
        packet.skb.data += data, packet.skb.len -= data;
        change(packet.skb);
        return matches("tcp src port 443 and len = 58", packet);
    };
    const auto nothing = [](sk_buff&) {};
    CHECK(moved(0, nothing));
    CHECK(moved(-ETH_HLEN, nothing));  // in a device's queue
    CHECK(moved(20, nothing));         // in TCP
    CHECK(moved(40, nothing));         // in its socket
    const auto not_noted = [](sk_buff& skb) { skb.network_header = 0; };
    CHECK(moved(0, not_noted));
    CHECK(moved(0, [](sk_buff& skb) { skb.network_header = 0, skb.mac_header = 0xffff; }));
    // What an outer packet left there.
    CHECK(moved(0, [](sk_buff& skb) { skb.network_header += 9; }));
}

TEST_CASE("what is no packet of the network passes no filter") {
    const auto frame = segment();
    const auto other = [&](auto change) {
        FramePacket packet(frame, frame.size());
        change(packet.skb);
        return matches("not udp", packet);
    };
    CHECK(other([](sk_buff&) {}));
    // A message of a Unix socket that begins as an IP header does; a segment before IP.
    CHECK_FALSE(other([](sk_buff& skb) { skb.protocol = 0, skb.network_header = 0, skb.mac_header = 0xffff; }));
    // Its headers are not what its protocol says.
    CHECK_FALSE(other([](sk_buff& skb) { skb.protocol = htons(0x86dd); }));
    CHECK_FALSE(
        other([](sk_buff& skb) { skb.network_header = 60000, skb.mac_header = 0xffff, skb.data += 4, skb.len -= 4; }));
}

TEST_CASE("a connection without a packet is asked for by addresses and ports") {
    const unsigned char client[] = {10, 0, 0, 1}, server[] = {192, 0, 2, 7};
    const unsigned char client6[] = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    const unsigned char server6[] = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7};
    const unsigned char mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
    const unsigned char to_mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 7};
    const auto asked = [](const std::string& expression, const stapgen_ends& ends) {
        const auto program = stapgen::filter::compile(expression).value();
        std::fill(std::begin(stapgen_filter), std::end(stapgen_filter), 0);
        std::copy(program.begin(), program.end(), stapgen_filter);
        const void* fault = nullptr;
        const bool passed = stapgen_lets_ends_pass(&ends, &fault) != 0;
        CHECK(fault == nullptr);
        return passed;
    };
    const stapgen_ends of4{client, server, 1, 40961, 443}, of6{client6, server6, 0, 40961, 443};
    const stapgen_ends of_mapped{mapped, to_mapped, 0, 40961, 443};
    for (const auto* ends : {&of4, &of_mapped}) {
        CHECK(asked("tcp port 443", *ends));
        CHECK(asked("src host 10.0.0.1 and dst net 192.0.2.0/24 and src port 40961 and dst port 443", *ends));
        CHECK(asked("ip and len = 54", *ends));
        for (const auto* other : {"udp", "port 444", "host 10.0.0.2", "ip6", "arp", "src host 192.0.2.7"})
            CHECK_FALSE(asked(other, *ends));
    }
    CHECK(asked("ip6 and src host 2001:db8::1 and dst host 2001:db8::7 and tcp dst port 443 and len = 74", of6));
    for (const auto* other : {"udp", "port 444", "host 2001:db8::2", "ip", "dst host 2001:db8::1"})
        CHECK_FALSE(asked(other, of6));
    const void* fault = nullptr;
    shim_bad_begin = server, shim_bad_end = server + 1;
    CHECK(stapgen_lets_ends_pass(&of4, &fault) == 0);
    CHECK(fault == server);
    shim_bad_begin = shim_bad_end = nullptr;
}

TEST_CASE("a packet that cannot be read is told with its address") {
    const auto frame = segment();
    const auto program = stapgen::filter::compile("tcp").value();
    std::copy(program.begin(), program.end(), stapgen_filter);
    const FramePacket packet(frame, frame.size());
    for (const void* bad : {static_cast<const void*>(&packet.skb), static_cast<const void*>(packet.skb.data)}) {
        const void* fault = nullptr;
        shim_bad_begin = bad, shim_bad_end = static_cast<const char*>(bad) + 1;
        CHECK(stapgen_passes_filter(&packet.skb, &fault) == 0);
        CHECK(fault == bad);
        shim_bad_begin = shim_bad_end = nullptr;
    }
}

TEST_CASE("a program that is not one lets nothing pass, and ends") {
    const auto frame = segment();
    const FramePacket packet(frame, frame.size());
    CHECK_FALSE(passes(words_of({}), packet));
    CHECK_FALSE(passes(words_of({{0x00, 0, 0, 1}}), packet));           // no return
    CHECK_FALSE(passes(words_of({{0x05, 0, 0, 0xffffffff}}), packet));  // back
    CHECK_FALSE(passes(words_of({{0x02, 0, 0, 16}, {0x06, 0, 0, 1}}), packet));
    CHECK_FALSE(passes(words_of({{0x20, 0, 0, 0xfffff004}, {0x06, 0, 0, 1}}), packet));
    CHECK(passes(words_of({{0x06, 0, 0, 1}}), packet));
}
