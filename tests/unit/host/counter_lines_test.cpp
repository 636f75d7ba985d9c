// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/counter_lines.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "fakes/system/fake_system.h"

using namespace stapgen;
using host::CounterLines;
using host::FakeSystem;
using Lines = std::vector<std::string>;

namespace {

constexpr auto header = "stapgen\t3\tmine\tcounter\tname:text,key\tof:text,key\trise:count";

FakeSystem machine() {
    FakeSystem system;
    system.files["/proc/net/snmp"] = "Tcp: RtoMin CurrEstab OutRsts\nTcp: 200 3 17\nIcmpMsg:\nIcmpMsg:\n";
    system.files["/proc/net/netstat"] = "TcpExt: ListenDrops\nTcpExt: 41\n";
    system.files["/proc/net/snmp6"] = "Ip6InReceives                   \t103\nUdp6NoPorts                     \t7\n";
    system.files["/proc/net/softnet_stat"] =
        "fffffff0 00000003 00000005 0 0 0 0 0 0 0 0 0 00000000\n00000011 00000002 00000000 0 0 0 0 0 0 0 0 0 "
        "00000007\n";
    system.devices = {
        {"link.rx_packets", "eth0", 11}, {"link.rx_packets", "eth1", 13}, {"ethtool.rx0_drops", "eth1", 0}};
    return system;
}

/// Without the moment of lines that have one.
Lines timeless(Lines lines) {
    for (auto& line : lines) {
        const auto words = base::split(line, '\t');
        if (words[0] != "tick" && words[0] != "end" && words[0] != "ready") continue;
        std::string rest(words[0]);
        for (std::size_t i = 2; i < words.size(); ++i)
            rest += "\t" + std::string(words[i]);
        line = rest;
    }
    return lines;
}

/// What a tick shows behind a first reading of `before`.
Lines between(FakeSystem before, const FakeSystem& after) {
    CounterLines lines(before, header, "counter");
    lines.begin();
    before = after;
    return timeless(lines.tick());
}

}  // namespace

TEST_CASE("all counters are read, each with what it is of, and what is a setting or a state is not") {
    const auto system = machine();
    const auto counters = host::read_counters(system);
    CHECK(counters.at({"Tcp.OutRsts", "-"}) == 17);
    CHECK(counters.at({"TcpExt.ListenDrops", "-"}) == 41);
    CHECK(counters.at({"Ip6.InReceives", "-"}) == 103);
    CHECK(counters.at({"softnet.processed", "cpu7"}) == 17);
    CHECK(counters.at({"softnet.dropped", "cpu0"}) == 3);
    CHECK(counters.at({"link.rx_packets", "eth1"}) == 13);
    CHECK(counters.at({"ethtool.rx0_drops", "eth1"}) == 0);
    CHECK(counters.size() == 4 + 2 * 5 + 3);
    CHECK(host::read_counters(FakeSystem()).empty());
}

TEST_CASE("a driver that counts twice under one name has both added up") {
    FakeSystem system;
    system.devices = {{"ethtool.drops", "eth0", 5}, {"ethtool.drops", "eth0", 7}};
    CHECK(host::read_counters(system).at({"ethtool.drops", "eth0"}) == 12);
}

TEST_CASE("what rises is printed as a script would print it, and the totals behind it") {
    auto system = machine();
    CounterLines lines(system, header, "counter");
    auto begin = lines.begin();
    REQUIRE(begin.size() == 2);
    CHECK(begin[0] == header);
    const auto ready = base::split(begin[1], '\t');
    REQUIRE(ready.size() == 3);
    CHECK(ready[0] == "ready");
    // 2020-01-01, and a clock that began to run when the machine did.
    CHECK(base::to_int(ready[1]).value() > 1577836800000000000);
    CHECK(base::to_int(ready[2]).value() > 0);

    CHECK(timeless(lines.tick()) == Lines{"tick\tseen=0\treported=0\tappeared-later=0\treset=0"});
    system.files["/proc/net/snmp"] = "Tcp: RtoMin CurrEstab OutRsts\nTcp: 300 5 126\nIcmpMsg: InType3\nIcmpMsg: 23\n";
    system.devices[1].value = 1022;
    CHECK(timeless(lines.tick()) == Lines{"counter\tIcmpMsg.InType3\t-\t23", "counter\tTcp.OutRsts\t-\t109",
                                          "counter\tlink.rx_packets\teth1\t1009",
                                          "tick\tseen=1141\treported=1141\tappeared-later=0\treset=0"});
    system.devices[1].value = 1025;
    CHECK(timeless(lines.end()) ==
          Lines{"counter\tlink.rx_packets\teth1\t3", "end\tseen=1144\treported=1144\tappeared-later=0\treset=0"});
}

TEST_CASE("a softnet counter that is full begins anew and is no reset") {
    auto after = machine();
    after.files["/proc/net/softnet_stat"] = "00000007 00000003 00000005\n";
    CHECK(between(machine(), after) ==
          Lines{"counter\tsoftnet.processed\tcpu0\t23", "tick\tseen=23\treported=23\tappeared-later=0\treset=0"});
}

TEST_CASE("a counter that falls was reset, and by how much it rose since is not known") {
    auto after = machine();
    after.devices[0].value = 5;
    after.devices[2].value = ~std::uint64_t{0};
    CHECK(between(machine(), after) == Lines{"counter\treset.ethtool.rx0_drops\teth1\t1",
                                             "counter\treset.link.rx_packets\teth0\t1",
                                             "tick\tseen=2\treported=2\tappeared-later=0\treset=2"});
}

TEST_CASE("a device that appears is counted from there, and one that goes is forgotten") {
    auto system = machine();
    CounterLines lines(system, header, "counter");
    lines.begin();
    system.devices.push_back({"link.rx_packets", "veth0", 700});
    CHECK(timeless(lines.tick()) == Lines{"tick\tseen=0\treported=0\tappeared-later=1\treset=0"});
    system.devices.back().value = 719;
    CHECK(timeless(lines.tick()).front() == "counter\tlink.rx_packets\tveth0\t19");
    system.devices.pop_back();
    CHECK(timeless(lines.tick()) == Lines{"tick\tseen=19\treported=19\tappeared-later=1\treset=0"});
    system.devices.push_back({"link.rx_packets", "veth0", 3});
    CHECK(timeless(lines.tick()) == Lines{"tick\tseen=19\treported=19\tappeared-later=2\treset=0"});
}

TEST_CASE("a file that cannot be read once has not risen when it is there again") {
    auto system = machine();
    CounterLines lines(system, header, "counter");
    lines.begin();
    const auto text = system.files.extract("/proc/net/netstat").mapped();
    CHECK(timeless(lines.tick()) == Lines{"tick\tseen=0\treported=0\tappeared-later=0\treset=0"});
    system.files["/proc/net/netstat"] = text;
    CHECK(timeless(lines.tick()) == Lines{"tick\tseen=0\treported=0\tappeared-later=0\treset=0"});
}

TEST_CASE("no name of a driver's can end a field or a line") {
    FakeSystem after;
    after.devices = {{"ethtool.a\tb\nc\\\"\xc3\xa9", "x", 1}};
    auto before = after;
    before.devices[0].value = 0;
    CHECK(between(before, after).front() == "counter\tethtool.a\\011b\\012c\\134\\042\\303\\251\tx\t1");
}

TEST_CASE("rises beyond what a count can hold stay at the largest count") {
    FakeSystem before, after;
    before.devices = {{"ethtool.a", "x", 0}, {"ethtool.b", "x", 0}};
    after.devices = {{"ethtool.a", "x", 0x7fffffffffffffff}, {"ethtool.b", "x", 0x7fffffffffffffff}};
    CHECK(between(before, after).back() ==
          "tick\tseen=9223372036854775807\treported=9223372036854775807\tappeared-later=0\treset=0");
}
