// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/net_counters.h"

#include <doctest/doctest.h>

#include "fakes/system/fake_system.h"

using namespace stapgen::host;

namespace {

FakeSystem with(std::string_view overflows) {
    FakeSystem system;
    system.files["/proc/net/netstat"] = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 0 " +
                                        std::string(overflows) +
                                        " 41\nIpExt: InNoRoutes InOctets\nIpExt: 7 4749813002\n";
    system.files["/proc/net/snmp"] =
        "Tcp: RtoAlgorithm MaxConn\nTcp: 1 -1\nIcmpMsg:\nIcmpMsg:\nUdp: InDatagrams RcvbufErrors\nUdp: 11 13\n";
    return system;
}

}  // namespace

TEST_CASE("the kernel's counters are read from both files by prefix and name") {
    const auto counters = read_net_counters(with("17"));
    CHECK(counters == NetCounters{{"TcpExt.SyncookiesSent", 0},
                                  {"TcpExt.ListenOverflows", 17},
                                  {"TcpExt.ListenDrops", 41},
                                  {"IpExt.InNoRoutes", 7},
                                  {"IpExt.InOctets", 4749813002},
                                  {"Tcp.RtoAlgorithm", 1},
                                  {"Tcp.MaxConn", -1},
                                  {"Udp.InDatagrams", 11},
                                  {"Udp.RcvbufErrors", 13}});
}

TEST_CASE("what rose between two readings is reported, and of a counter that the kernel does not have nothing") {
    const auto before = read_net_counters(with("17")), after = read_net_counters(with("40"));
    CHECK(difference(before, after, "TcpExt.ListenOverflows") == 23);
    CHECK(difference(before, after, "Udp.RcvbufErrors") == 0);
    CHECK_FALSE(difference(before, after, "TcpExt.NoSuchCounter"));
    CHECK_FALSE(difference({}, after, "TcpExt.ListenOverflows"));
    CHECK(difference({{"Ip.A", -9223372036854775807}}, {{"Ip.A", 11}}, "Ip.A") == -9223372036854775798);
    CHECK(read_net_counters(FakeSystem()).empty());
}

TEST_CASE("lines that are no pair, and values that are no number, are passed over") {
    NetCounters counters;
    parse_net_counters("Tcp: A B\nUdp: C\nUdp: 5\nnoise\nTcp: A B C\nTcp: 1 x\nlast", counters);
    CHECK(counters == NetCounters{{"Udp.C", 5}, {"Tcp.A", 1}});
}

TEST_CASE("softnet counters of all CPUs are added up, and their difference outlives 32 bits") {
    FakeSystem system;
    auto& file = system.files["/proc/net/softnet_stat"];
    file =
        "fffffff0 00000003 00000005 00000000 00000000 00000000 00000000 00000000 00000000 00000007 0000000b 00000000 "
        "00000000\n"
        "00000011 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000001 00000000 00000000 "
        "00000001\n";
    const auto before = read_net_counters(system);
    CHECK(before == NetCounters{{"softnet.processed", 0x100000001},
                                {"softnet.dropped", 5},
                                {"softnet.time_squeeze", 5},
                                {"softnet.received_rps", 8},
                                {"softnet.flow_limit", 11}});
    file = "00000007 00000004 00000005\n00000011 00000003 xyz\n";
    const auto after = read_net_counters(system);
    CHECK(after.size() == 3);
    CHECK(difference(before, after, "softnet.processed") == 23);
    CHECK(difference(before, after, "softnet.dropped") == 2);
}

TEST_CASE("softnet counters are known by CPU: by the column that says which, else by the line") {
    const auto counters = softnet_counters(
        "00000005 0 0 0 0 0 0 0 0 0 0 0 00000000\n00000007 0 0 0 0 0 0 0 0 0 0 0 00000003\n0000000b 00000001\n");
    REQUIRE(counters.size() == 5 + 5 + 2);
    CHECK(counters[0].cpu == 0);
    CHECK(counters[5].cpu == 3);
    CHECK(counters[5].value == 7);
    CHECK(counters[10].cpu == 2);
    CHECK(std::string(counters[11].name) == "softnet.dropped");
    CHECK(softnet_counters("").empty());
}

TEST_CASE("counters of IPv6 have the protocol for their prefix, as the others have") {
    NetCounters counters;
    parse_snmp6_counters(
        "Ip6InReceives                   \t11\nIcmp6OutType128\t13\nUdpLite6NoPorts 17\nnoise\nA 5\nUdp6X x\n",
        counters);
    CHECK(counters == NetCounters{{"Ip6.InReceives", 11}, {"Icmp6.OutType128", 13}, {"UdpLite6.NoPorts", 17}});
}
