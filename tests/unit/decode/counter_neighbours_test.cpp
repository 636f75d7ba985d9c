// SPDX-License-Identifier: GPL-2.0-or-later
#include <string>

#include "decoded_text.h"

using namespace stapgen::decode;

namespace {

/// How often a value of 1 was read.
std::ptrdiff_t ones(const DecodedText& decoded, const std::string& counter) {
    return std::ranges::count_if(decoded.lines, [&](const auto& line) {
        return line.find(" " + counter + " = 1") != line.npos && line.ends_with(" state");
    });
}

}  // namespace

TEST_CASE("ip -s neigh: neighbours that failed and that are asked, of each device and family") {
    // iproute2 4.9 and busybox: two blanks where an address is missing.
    const DecodedText old(
        "$ ip -s -s neigh show\n"
        "172.16.16.254 dev wlp3s0 lladdr 00:0d:b9:37:2e:71 used 179/174/54 probes 1 STALE\n"
        "172.16.11.5 dev enp0s25 lladdr d0:50:99:19:29:eb ref 1 used 22/22/22 probes 1 REACHABLE\n"
        "172.16.15.254 dev enp0s25 lladdr 00:0d:b9:37:2e:70 ref 1 used 32571/1/0 probes 4 DELAY\n"
        "172.16.11.113 dev enp0s25  used 18194/18284/18192 probes 6 FAILED\n"
        "172.16.11.114 dev enp0s25  used 0/0/0 probes 4 INCOMPLETE\n"
        "172.16.11.115 dev enp0s25  FAILED\n"
        "fe80::1 dev enp0s25 lladdr aa:bb:cc:dd:ee:01 router used 0/0/0 probes 0 STALE\n"
        "fd00:50::10 dev enp0s25  used 0/0/0 probes 6 FAILED\n"
        "10.1.1.2 dev gre1 lladdr 10.0.0.2 NOARP\n");
    CHECK(old.detector.input().unrecognised == 0);
    CHECK(readings(old) == 9 * 2);
    CHECK(ones(old, "neigh.failed of enp0s25") == 2);
    CHECK(ones(old, "neigh.incomplete of enp0s25") == 1);
    CHECK(ones(old, "neigh6.failed of enp0s25") == 1);
    CHECK(has_line(old, "ip -s neigh0 neigh.failed of wlp3s0 = 0 state"));
    CHECK(has_line(old, "ip -s neigh0 neigh.failed of enp0s25 = 1 part state"));
    // iproute2 5.16 and later: a blank at the end, none before "probes"; new flags.
    const DecodedText newer(
        "fe80::5054:ff:fec3:6c40 dev eth0 lladdr 52:54:00:c3:6c:40 router extern_learn  ref 1 used "
        "1587/1587/1587probes 1 "
        "REACHABLE \n"
        "192.0.2.52 dev eth0  used 12/72/12probes 0 INCOMPLETE \n"
        "192.0.2.53 dev eth0  used 12/72/12probes 6 FAILED \n"
        "192.0.2.54 dev eth0 lladdr 52:54:00:c3:6c:41 managed offload PERMANENT proto zebra \n"
        "192.0.2.55 dev eth0 proxy \n"
        "fc02:1000::500 dev Vlan1000  FAILED\r\n");
    CHECK(newer.detector.input().unrecognised == 0);
    CHECK(ones(newer, "neigh.failed of eth0") == 1);
    CHECK(ones(newer, "neigh.incomplete of eth0") == 1);
    CHECK(ones(newer, "neigh6.failed of Vlan1000") == 1);
    CHECK(newer.notes().empty());
}

TEST_CASE("ip neigh of one device: the command names it") {
    const DecodedText named("# ip -s neigh show dev eth1 nud failed\n10.0.0.9  used 12/9/5 probes 6 FAILED\n");
    CHECK(has_line(named, "ip -s neigh0 neigh.failed of eth1 = 1 state"));
    CHECK(DecodedText("10.0.0.9  used 12/9/5 probes 6 FAILED\n").detector.input().unrecognised == 1);
    const DecodedText inside(
        "# ip netns exec blue ip -4 neigh\n10.0.0.9 dev eth1  FAILED\n# ip -6 neigh\nfd00::9 dev eth1  FAILED\n");
    CHECK(ones(inside, "neigh.failed of eth1") == 1);
    CHECK(ones(inside, "neigh6.failed of eth1") == 1);
    CHECK(inside.counter_sources == std::vector<std::string>{"netns blue", "no name"});
}

TEST_CASE("ip neigh again is the next sample: by its command, a time, or an address that comes again") {
    const std::string first = "10.0.0.8 dev eth0  FAILED\n10.0.0.9 dev eth0  FAILED\n",
                      second = "10.0.0.8 dev eth0 lladdr 52:54:00:12:34:56 REACHABLE\n10.0.0.9 dev eth0  FAILED\n";
    for (const auto& both : {"$ ip neigh\n" + first + "$ ip neigh\n" + second, first + second,
                             "1605572811\n" + first + "1605572821\n" + second}) {
        CAPTURE(both);
        const DecodedText decoded(both);
        CHECK(decoded.detector.input().unrecognised == 0);
        CHECK(has_line(decoded, "ip -s neigh0 neigh.failed of eth0 = 1 part state"));
        CHECK(has_line(decoded, "ip -s neigh1 neigh.failed of eth0 = 0 state"));
        CHECK(has_line(decoded, "ip -s neigh1 neigh.failed of eth0 = 1 part state"));
        CHECK(decoded.notes().find("twice") == std::string::npos);
    }
    const DecodedText other("$ ip neigh\n" + first + "$ ip -s neigh\n" + second);
    CHECK(other.notes().find("twice") == std::string::npos);
}

TEST_CASE("routes and what else names an address and a device are no neighbours") {
    for (const auto* none :
         {"10.0.0.5 dev eth0 scope link\n", "10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.1\n",
          "10.0.0.5 dev eth0 proto static\n", "default dev eth0 FAILED\n", "10.0.0.256 dev eth0 FAILED\n",
          "10.0.0.5 dev eth0 FAILED STALE\n", "10.0.0.5 dev eth0 lladdr\n", "10.0.0.5 dev eth0 used 1/2/3probes\n",
          "10.0.0.5 dev\n", "52:54:00:12:34:56 dev eth0 master br0 permanent\n", "10.0.0.5 dev eth0 failed to answer\n",
          "10.0.0.5 REACHABLE\n"}) {
        CAPTURE(none);
        const DecodedText decoded(none);
        CHECK(readings(decoded) == 0);
        CHECK(decoded.detector.input().unrecognised == 1);
    }
}
