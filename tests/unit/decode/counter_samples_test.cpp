// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "decode/calendar.h"
#include "decoded_text.h"

using namespace stapgen::decode;

TEST_CASE("nstat: names have a dot behind their group, and #kernel begins a sample") {
    const DecodedText decoded(read_text("counters-nstat.txt"));
    CHECK(decoded.detector.input().unrecognised == 0);
    CHECK(decoded.lines[0] == "header softnet");
    CHECK(readings(decoded) == 21);
    CHECK(has_line(decoded, "nstat0 Ip.InReceives of - = 2101517"));
    CHECK(has_line(decoded, "nstat0 Udp6.RcvbufErrors of - = 3"));
    CHECK(has_line(decoded, "nstat0 TcpExt.TcpTimeoutRehash of - = 35"));
    CHECK(has_line(decoded, "nstat0 IpExt.InOctets of - = 10290024251"));
    CHECK(has_line(decoded, "nstat1 TcpExt.TCPBacklogDrop of - = 17"));
    CHECK(has_line(decoded, "nstat1 Udp.RcvbufErrors of - = 1297"));
    CHECK(decoded.notes().empty());
}

TEST_CASE("nstat without -a prints rises, where its command is there") {
    const std::string row = "UdpNoPorts                      7                  0.0\n";
    const DecodedText rises("$ nstat\n#kernel\n" + row);
    CHECK(has_line(rises, "nstat0 Udp.NoPorts of - = 7 rise"));
    CHECK(rises.notes().starts_with("nstat without -a prints rises"));
    for (const auto* command : {"$ nstat -az\n", "# sudo /usr/sbin/nstat -a UdpNoPorts | cat\n", "nstat --ignore\n", "",
                                "nstat shows this:\n"}) {
        CAPTURE(command);
        CHECK(has_line(DecodedText(command + row), "nstat0 Udp.NoPorts of - = 7"));
    }
}

TEST_CASE("/proc/net/snmp6 is a list of names and numbers") {
    const DecodedText decoded("Ip6InReceives                   \t302363\nUdpLite6InErrors                \t5\n");
    CHECK(has_line(decoded, "nstat0 Ip6.InReceives of - = 302363"));
    CHECK(has_line(decoded, "nstat0 UdpLite6.InErrors of - = 5"));
    for (const auto* none : {"Ip6InReceives\n", "Ip6InReceives -1\n", "IPInReceives 5\n", "Ip6InReceives 5 x\n",
                             "IpReceives5 5 0.0 0.0\n", "Tcpdump 5\n"}) {
        CAPTURE(none);
        CHECK(DecodedText(none).detector.input().unrecognised == 1);
    }
}

TEST_CASE("netstat -s: each sentence is a counter, and so is each name") {
    const DecodedText decoded(read_text("counters-netstat.txt"));
    CHECK(decoded.detector.input().unrecognised == 0);
    // Two are a setting and a state.
    CHECK(readings(decoded) == 34);
    for (const auto* line :
         {"netstat -s0 Ip.InReceives of - = 2101517", "netstat -s0 Ip.OutTransmits of - = 2021587",
          "netstat -s0 Icmp.InDestUnreachs of - = 9338", "netstat -s0 Icmp.OutDestUnreachs of - = 9337",
          "netstat -s0 IcmpMsg.OutType3 of - = 9337", "netstat -s0 Tcp.RetransSegs of - = 211",
          "netstat -s0 Udp.RcvbufErrors of - = 1089", "netstat -s0 Udp.InCsumErrors of - = 319",
          "netstat -s0 TcpExt.PruneCalled of - = 5", "netstat -s0 TcpExt.DelayedACKLost of - = 641",
          "netstat -s0 TcpExt.ListenDrops of - = 360", "netstat -s0 TcpExt.TCPSACKReorder of - = 1",
          "netstat -s0 TcpExt.TCPTimeouts of - = 35", "netstat -s0 TcpExt.TcpTimeoutRehash of - = 35",
          "netstat -s0 IpExt.OutOctets of - = 930037551"}) {
        CAPTURE(line);
        CHECK(has_line(decoded, line));
    }
    const DecodedText old(read_text("counters-netstat-1.60.txt"));
    CHECK(old.detector.input().unrecognised == 0);
    CHECK(readings(old) == 14);
    CHECK(has_line(old, "netstat -s0 Tcp.InErrs of - = 15511"));
    CHECK(has_line(old, "netstat -s0 Tcp.RetransSegs of - = 191055808"));
    CHECK(has_line(old, "netstat -s0 TcpExt.ListenDrops of - = 5191585"));
    CHECK(has_line(old, "netstat -s0 TcpExt.TCPSackRecovery of - = 530313"));
}

TEST_CASE("netstat -s -6 has groups and names of its own") {
    const DecodedText decoded(
        "Ip6:\n    302363 total packets received\n    7 forwarded\n    Ip6InOctets: 320016232\nIcmp6:\n"
        "    ICMP output histogram:\n        neighbor solicits: 18\n        Icmp6OutMLDv2Reports: 4\nUdp6:\n"
        "    3 packet receive errors\n");
    CHECK(decoded.detector.input().unrecognised == 0);
    CHECK(has_line(decoded, "netstat -s0 Ip6.InReceives of - = 302363"));
    CHECK(has_line(decoded, "netstat -s0 Ip6.OutForwDatagrams of - = 7"));
    CHECK(has_line(decoded, "netstat -s0 Ip6.InOctets of - = 320016232"));
    CHECK(has_line(decoded, "netstat -s0 Icmp6.OutNeighborSolicits of - = 18"));
    CHECK(has_line(decoded, "netstat -s0 Icmp6.OutMLDv2Reports of - = 4"));
    CHECK(has_line(decoded, "netstat -s0 Udp6.InErrors of - = 3"));
}

TEST_CASE("what grep left of netstat -s has no headings, and the same sentence again is the next sample") {
    const DecodedText decoded(
        "# netstat -s | grep buffer ; sleep 10 ; netstat -s | grep buffer\n"
        "    20560 packets pruned from receive queue because of socket buffer overrun\n"
        "    997586 packets collapsed in receive queue due to low socket buffer\n"
        "    20587 packets pruned from receive queue because of socket buffer overrun\n"
        "    998646 packets collapsed in receive queue due to low socket buffer\n"
        "    TCPBacklogDrop: 5\n    InCsumErrors: 5\n    20 packets of something\n");
    CHECK(has_line(decoded, "netstat -s0 TcpExt.PruneCalled of - = 20560"));
    CHECK(has_line(decoded, "netstat -s1 TcpExt.PruneCalled of - = 20587"));
    CHECK(has_line(decoded, "netstat -s1 TcpExt.TCPRcvCollapsed of - = 998646"));
    CHECK(has_line(decoded, "netstat -s1 TcpExt.TCPBacklogDrop of - = 5"));
    // Three groups have one of that name.
    CHECK(decoded.detector.input().unrecognised == 2);
    // A heading is of the group whose sentences follow.
    CHECK(DecodedText("Udp:\n    5 segments received\n").detector.input().unrecognised == 1);
}

TEST_CASE("files of /proc/net: names and values, CPUs, devices") {
    const DecodedText decoded(read_text("counters-proc.txt"));
    CHECK(decoded.detector.input().unrecognised == 0);
    CHECK(readings(decoded) == 3 + 2 + 5 + 3 + 10 + 32);
    for (const auto* line : {"/proc/net/snmp0 Ip.InDiscards of - = 5", "/proc/net/snmp0 Tcp.RetransSegs of - = 211",
                             "/proc/net/snmp0 TcpExt.ListenDrops of - = 360",
                             "/proc/net/softnet_stat0 softnet.processed of cpu0 = 1035481",
                             "/proc/net/softnet_stat0 softnet.received_rps of cpu0 = 7",
                             "/proc/net/softnet_stat0 softnet.dropped of cpu1 = 42",
                             "/proc/net/softnet_stat0 softnet.time_squeeze of cpu1 = 12",
                             "/proc/net/dev0 dev.rx_bytes of eth0 = 9371229784",
                             "/proc/net/dev0 dev.rx_drop of eth0 = 17", "/proc/net/dev0 dev.rx_multicast of eth0 = 29",
                             "/proc/net/dev0 dev.tx_drop of eth0 = 5", "/proc/net/dev0 dev.tx_compressed of lo = 0"}) {
        CAPTURE(line);
        CHECK(has_line(decoded, line));
    }
    // A line that a mail has broken says not which value is whose.
    const DecodedText broken("Udp: InDatagrams NoPorts\nUdp: 225645\n9337\n");
    CHECK(readings(broken) == 0);
    CHECK(broken.detector.input().unrecognised == 2);
}

TEST_CASE("softnet_stat of kernels that name no CPU: its lines are counted, from 0 behind any other line") {
    const std::string first = "00000001 00000002 00000003 00000000 00000000 00000000 00000000 00000000 00000000\n",
                      second = "0000000a 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n";
    const DecodedText decoded(first + second + "--\n" + second + first);
    CHECK(readings(decoded) == 12);
    CHECK(has_line(decoded, "/proc/net/softnet_stat0 softnet.dropped of cpu0 = 2"));
    CHECK(has_line(decoded, "/proc/net/softnet_stat0 softnet.processed of cpu1 = 10"));
    CHECK(has_line(decoded, "/proc/net/softnet_stat1 softnet.processed of cpu0 = 10"));
    CHECK(has_line(decoded, "/proc/net/softnet_stat1 softnet.dropped of cpu1 = 2"));
}

TEST_CASE("ip -s link: columns are known by their headings, in every order that its versions have") {
    const DecodedText decoded(read_text("counters-ip.txt"));
    CHECK(decoded.detector.input().unrecognised == 0);
    CHECK(readings(decoded) == 6 + 5 + 6 + 5 + 6 + 6);
    CHECK(has_line(decoded, "ip -s link0 link.rx_dropped of eth0 = 17"));
    CHECK(has_line(decoded, "ip -s link0 link.rx_missed_errors of eth0 = 23"));
    CHECK(has_line(decoded, "ip -s link0 link.multicast of eth0 = 29"));
    CHECK(has_line(decoded, "ip -s link0 link.tx_dropped of eth0 = 5"));
    CHECK(has_line(decoded, "ip -s link0 link.rx_over_errors of lo = 0"));
    const DecodedText old(read_text("counters-ip-old.txt"));
    CHECK(old.detector.input().unrecognised == 0);
    CHECK(readings(old) == 6 + 5 + 6 + 4 + 4 + 2);
    CHECK(has_line(old, "ip -s link0 link.rx_over_errors of eth1 = 11"));
    CHECK(has_line(old, "ip -s link0 link.rx_missed_errors of eth1 = 13"));
    CHECK(has_line(old, "ip -s link0 link.collisions of eth1 = 35172"));
    CHECK(has_line(old, "ip -s link0 link.tx_heartbeat_errors of eth1 = 332"));
    // Of a virtual function.
    CHECK(has_line(old, "ip -s link0 link.rx_bytes of eth1.vf0 = 1024"));
    CHECK(has_line(old, "ip -s link0 link.tx_packets of eth1.vf0 = 16"));
    const DecodedText unnamed("    RX: bytes  packets\n    5 7\n    6 8\n");
    CHECK(has_line(unnamed, "ip -s link0 link.rx_packets of ? = 7"));
    CHECK(unnamed.detector.input().unrecognised == 1);
    CHECK(unnamed.notes().starts_with("?: no line names the device"));
}

TEST_CASE("ifconfig, both generations: what it prints are the sums of /proc/net/dev") {
    const DecodedText decoded(read_text("counters-ifconfig.txt"));
    CHECK(decoded.detector.input().unrecognised == 0);
    CHECK(readings(decoded) == 6 + 7 + 5 + 5 + 1 + 2);
    for (const auto* line : {"ifconfig0 dev.rx_bytes of eth0 = 9371229784", "ifconfig0 dev.rx_drop of eth0 = 40",
                             "ifconfig0 dev.rx_fifo of eth0 = 2", "ifconfig0 dev.tx_drop of eth0 = 5",
                             "ifconfig0 dev.tx_colls of eth0 = 7", "ifconfig0 dev.rx_drop of eth1 = 7183",
                             "ifconfig0 dev.rx_bytes of eth1 = 3492834266631",
                             "ifconfig0 dev.tx_bytes of eth1 = 4635258443813", "ifconfig0 dev.tx_colls of eth1 = 0"}) {
        CAPTURE(line);
        CHECK(has_line(decoded, line));
    }
}

TEST_CASE("ethtool -S: the command names the device, and names that come up again are parts of one counter") {
    const DecodedText decoded(read_text("counters-ethtool.txt"));
    CHECK(decoded.detector.input().unrecognised == 0);
    CHECK(readings(decoded) == 11);
    CHECK(has_line(decoded, "ethtool -S0 ethtool.rx_no_buffer_count of eth0 = 527"));
    CHECK(has_line(decoded, "ethtool -S0 ethtool.[0]: rx_discards of eth0 = 3"));
    CHECK(has_line(decoded, "ethtool -S0 ethtool.rxq0: rx_drops_no_frags of eth0 = 3885606854"));
    CHECK(has_line(decoded, "ethtool -S0 ethtool.drv dropped tx total of eth1 = 2"));
    CHECK(has_line(decoded, "ethtool -S0 ethtool.drv dropped tx total of eth1 = 1 part"));
    CHECK(decoded.notes().empty());
    const DecodedText left(
        "$ ethtool -S eth0 | grep drop\n     rx_drops: 5\n$ ethtool -S eth0 | grep drop\n     rx_drops: 7\n");
    CHECK(has_line(left, "ethtool -S0 ethtool.rx_drops of eth0 = 5"));
    CHECK(has_line(left, "ethtool -S1 ethtool.rx_drops of eth0 = 7"));
    const DecodedText unnamed("NIC statistics:\n     rx_drops: 5\nNIC statistics:\n     rx_drops: 7\n");
    CHECK(has_line(unnamed, "ethtool -S1 ethtool.rx_drops of ? = 7"));
    CHECK(unnamed.notes().starts_with("?: no line names the device"));
    // Not below its heading it may be anything.
    CHECK(DecodedText("     rx_drops: 5\n").detector.input().unrecognised == 1);
}

TEST_CASE("several formats in one text keep their samples and devices apart") {
    const DecodedText decoded(read_text("counters-ethtool.txt") + read_text("counters-ip.txt") +
                              read_text("counters-netstat.txt") + read_text("counters-ifconfig.txt") +
                              read_text("counters-proc.txt") + read_text("counters-netstat.txt"));
    CHECK(decoded.detector.input().unrecognised == 0);
    // Of /proc/net, 11 were in netstat's text, and 13 of eth0's in that of ifconfig.
    CHECK(readings(decoded) == 11 + 34 + 34 + 26 + (55 - 11 - 13) + 34);
    CHECK(has_line(decoded, "netstat -s1 TcpExt.ListenDrops of - = 360"));
    CHECK(has_line(decoded, "ifconfig0 dev.rx_drop of eth0 = 40"));
    CHECK(decoded.detector.sources().size() == 1);
}

TEST_CASE("files of /proc/net/stat are no softnet_stat, with their heading or without it") {
    const std::string zeros = "00000000 00000000 00000000 00000000 00000000 00000000 ";
    // An idle CPU's line of arp_cache looks like softnet_stat's; it is below one that does not.
    const DecodedText neighbours("00000009 00000013 0000000a 00000000 000000c5 " + zeros +
                                 "00000003 00000000\n00000009 " + zeros + zeros + "\n");
    CHECK(readings(neighbours) == 0);
    CHECK(neighbours.detector.input().unrecognised == 2);
    const std::string heading = "entries  allocs destroys hash_grows lookups hits res_failed unresolved_discards\n",
                      row = "00000009 00000013 0000000a 00000000 000000c5 000000c1 00000004 00000003\n";
    const DecodedText two(heading + row + row + heading + row);
    CHECK(has_line(two, "/proc/net/stat0 neigh.unresolved_discards of line 1 cpu1 = 3"));
    CHECK(has_line(two, "/proc/net/stat0 neigh.unresolved_discards of line 4 cpu0 = 3"));
    CHECK(DecodedText(heading + "9 13 a 0 c5 c1 4 3\n").detector.input().unrecognised == 1);
    CHECK(DecodedText("entries  allocs destroys drops\n" + row).detector.input().unrecognised == 2);
}

TEST_CASE("what follows ethtool -S is none of its counters") {
    for (const auto* other :
         {"# ethtool -c eth0\n", "Coalesce parameters for eth0:\n", "## -c\n", "> Coalesce parameters\n"}) {
        CAPTURE(other);
        const DecodedText decoded("# ethtool -S eth0\n     rx_drops: 5\n" + std::string(other) + "rx-usecs: 50\n");
        CHECK(readings(decoded) == 1);
        CHECK(decoded.detector.input().unrecognised == 2);
    }
    // Of ethtool -g and -l.
    CHECK(readings(DecodedText("# ethtool -S eth0\n     rx_drops: 5\nRX:             4096\nRX:\t4096\n")) == 1);
}

TEST_CASE("one counter by two tools is one sample, and by one of them again the next one") {
    const std::string netstat = "$ netstat -s\nTcpExt:\n    139 SYNs to LISTEN sockets dropped\n",
                      nstat = "$ nstat -az TcpExtListenDrops\n#kernel\nTcpExtListenDrops 139 0.0\n";
    CHECK(readings(DecodedText(netstat + nstat)) == 1);
    const DecodedText twice(netstat + nstat + netstat + nstat);
    CHECK(readings(twice) == 2);
    CHECK(has_line(twice, "netstat -s1 TcpExt.ListenDrops of - = 139"));
    const DecodedText later(netstat + "$ sleep 10\n" + nstat);
    CHECK(has_line(later, "nstat1 TcpExt.ListenDrops of - = 139"));
    const DecodedText other(netstat + "TcpExtListenDrops 152 0.0\n");
    CHECK(other.notes() == "TcpExt.ListenDrops of - appears twice in one sample, as 139 and 152: the first is used");
    // What a line that nobody understands breaks is one sample.
    const DecodedText broken("Udp:\n    5 packets received\nsomething\nTcp:\n    7 segments received\n");
    CHECK(has_line(broken, "netstat -s0 Tcp.InSegs of - = 7"));
}

TEST_CASE("a diff has two samples, and a line without a sign is of both") {
    const DecodedText normal("2c2\n<      rx_drops: 5\n---\n>      rx_drops: 7\n");
    CHECK(normal.detector.input().unrecognised == 0);
    CHECK(has_line(normal, "ethtool -S0 ethtool.rx_drops of ? = 5"));
    CHECK(has_line(normal, "ethtool -S1 ethtool.rx_drops of ? = 7"));
    const DecodedText unified(
        "@@ -1,3 +1,3 @@\n NIC statistics:\n-     rx_drops: 5\n+     rx_drops: 7\n      rx_ok: 9\n");
    CHECK(unified.detector.input().unrecognised == 0);
    CHECK(has_line(unified, "ethtool -S1 ethtool.rx_drops of ? = 7"));
    CHECK(has_line(unified, "ethtool -S0 ethtool.rx_ok of ? = 9"));
    CHECK(has_line(unified, "ethtool -S1 ethtool.rx_ok of ? = 9"));
    // Another indentation is not that of ethtool -S.
    CHECK(readings(DecodedText("2c2\n< rx-usecs: 5\n---\n> rx-usecs: 7\n")) == 0);
    CHECK(readings(DecodedText("<      rx_drops: 5\n---\n>      rx_drops: 7\n")) == 0);
}

TEST_CASE("a loop's device is the one whose name stands above, as far as it is one") {
    const std::string row = "NIC statistics:\n     rx_drops: 5\n";
    const DecodedText loop("eth0\n" + row + "enp3s0f1:\n" + row + "== bond0 ==\n" + row);
    for (const auto* device : {"eth0", "enp3s0f1", "bond0"}) {
        CAPTURE(device);
        CHECK(has_line(loop, "ethtool -S0 ethtool.rx_drops of " + std::string(device) + " = 5"));
    }
    CHECK(has_line(DecodedText("before\n" + row + "after\n" + row), "ethtool -S1 ethtool.rx_drops of ? = 5"));
}

TEST_CASE("what comes rounded is left out, and what is of no known shape") {
    const DecodedText rounded(
        "# ip -h -s link\n    RX: bytes packets errors dropped missed mcast\n    6.04T 8.1G 0 247 12k 3\n");
    CHECK(has_line(rounded, "ip -s link0 link.rx_dropped of ? = 247"));
    CHECK(readings(rounded) == 3);
    CHECK(rounded.notes().find("rounded numbers, as 6.04T, are left out") != std::string::npos);
    for (const auto* none :
         {"Iface MTU RX-OK Unknown\neth0 1500 5 7\n", "cpu=0 found=x drop=5\n", "TCP: inuse 5 lost 7\n", "TCP: inuse\n",
          " Sent 5 bytes 7 pkt (dropped 3, overlimits 0 requeues 0)\n", "eth0/statistics/rx_dropped:x\n",
          "ESTAB 0 0 here there\n", "cubic rto:204 cwnd:10 retrans:0/5\n",
          "10.0.0.1 dev eth0 src 10.0.0.2 cache used 3\n"}) {
        CAPTURE(none);
        CHECK(readings(DecodedText(none)) == 0);
        CHECK(DecodedText(none).detector.input().unrecognised > 0);
    }
}

TEST_CASE("lines of other tools among counters stay theirs") {
    const DecodedText decoded(
        "NIC statistics:\n     rx_drops: 5\n3 drops at icmp_rcv+12d (0xffffffff8176ac9d) [software]\n"
        "Udp:\n    5 packets received\n4 drops at icmp_rcv+12d (0xffffffff8176ac9d) [software]\n");
    CHECK(decoded.detector.sources().size() == 2);
    CHECK(std::ranges::count_if(decoded.lines, [](const auto& line) { return line.starts_with("drop "); }) == 2);
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("a line that is a time is read as date, ISO 8601, seconds and watch write it") {
    constexpr std::int64_t moment = 1605572811000000000;
    for (const auto* text :
         {"Tue Nov 17 00:26:51 UTC 2020", "Tue Nov 17 12:26:51 AM UTC 2020", "Tue 17 Nov 2020 12:26:51 AM GMT",
          "2020-11-17T00:26:51+00:00", "2020-11-17T00:26:51Z", "2020-11-17 00:26:51+00:00", "2020-11-17 01:26:51 +0100",
          "2020-11-16T19:26:51-05", "1605572811"}) {
        CAPTURE(text);
        const auto time = read_sample_time(text);
        REQUIRE(time);
        CHECK(time->epoch_ns == moment);
        CHECK(time->knows_zone);
    }
    CHECK(read_sample_time("1605572811.25")->epoch_ns == moment + 250'000'000);
    CHECK(read_sample_time("Tue Nov 17 13:26:51 CET 2020")->epoch_ns == moment + 13 * 3'600'000'000'000);
    CHECK_FALSE(read_sample_time("Tue Nov 17 13:26:51 CET 2020")->knows_zone);
    CHECK(read_sample_time("Tuesday, November 17 2020 01:26:51 PM")->epoch_ns == moment + 13 * 3'600'000'000'000);
    const auto watch = read_sample_time("Every 2.0s: ip -s link                host: Tue Nov 17 00:26:51 2020");
    REQUIRE(watch);
    CHECK(watch->epoch_ns == moment);
    for (const auto* none :
         {"Tue Nov 17 00:26:51", "Nov 17 2020", "Tue Nov 31 00:26:51 UTC 2020", "2020-11-17T24:26:51Z", "16055728110",
          "Tue Nov 17 00:26:51 UTC 2020 and more", "Tue Nov 17 00:26:51 00:26:52 2020", "2020-11-17T00:26:51+99:00",
          "Every 2.0s: ip -s link", "Tue Nov 17 13:26:51 PM UTC 2020", "9999999999", ""}) {
        CAPTURE(none);
        CHECK_FALSE(read_sample_time(none));
    }
    CHECK(DecodedText("Tue Nov 17 13:26:51 CET 2020\nUdpNoPorts 5 0.0\n").notes() ==
          "times are that machine's local time, read as UTC");
}
