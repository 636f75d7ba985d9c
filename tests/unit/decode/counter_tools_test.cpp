// SPDX-License-Identifier: GPL-2.0-or-later
#include <string>

#include "decoded_text.h"

TEST_CASE("ethtool -S in columns, or flattened to one line: each name has its own value") {
    const DecodedText columns(
        "# ethtool -S eth0 | column\nNIC statistics:\n     rx_packets: 1000     tx_packets: 800\n"
        "     rx_dropped: 5\ttx_dropped: 7\n     [0]: rx_bytes: 3     drv dropped tx total: 1\n     rx_errors: 3\n");
    CHECK(columns.detector.input().unrecognised == 0);
    CHECK(readings(columns) == 7);
    CHECK(has_line(columns, "ethtool -S0 ethtool.rx_dropped of eth0 = 5"));
    CHECK(has_line(columns, "ethtool -S0 ethtool.tx_dropped of eth0 = 7"));
    CHECK(has_line(columns, "ethtool -S0 ethtool.[0]: rx_bytes of eth0 = 3"));
    CHECK(has_line(columns, "ethtool -S0 ethtool.drv dropped tx total of eth0 = 1"));
    const DecodedText flat(
        "root@n1:~# ethtool -S eth0 NIC statistics: rx_packets: 1000 rx_dropped: 5\n"
        "root@n1:~# ethtool -S eth0 NIC statistics: rx_packets: 1100 rx_dropped: 6\n");
    CHECK(flat.detector.input().unrecognised == 0);
    CHECK(has_line(flat, "ethtool -S0 ethtool.rx_dropped of eth0 = 5"));
    CHECK(has_line(flat, "ethtool -S1 ethtool.rx_dropped of eth0 = 6"));
    const DecodedText twice("NIC statistics: a: 1 b: 2\nNIC statistics: a: 3 b: 4\n");
    CHECK(has_line(twice, "ethtool -S1 ethtool.b of ? = 4"));
    for (const auto* none : {"     rx_dropped: 5     tx_dropped: many\n", "     rx_dropped: 5     tx_dropped:\n",
                             "     rx_dropped: 5     tx_dropped\n"}) {
        CAPTURE(none);
        const DecodedText decoded("NIC statistics:\n" + std::string(none));
        CHECK(readings(decoded) == 0);
        CHECK(decoded.detector.input().unrecognised == 1);
    }
}

TEST_CASE("netstat -s of BSD has other counters under the same sentences") {
    const std::string bsd =
        "tcp:\n\t1000 packets sent\n\t\t20 data packets (3000 bytes) retransmitted\n"
        "\t500 connections established\nudp:\n\t5000 datagrams received\n\t7 packets received\n";
    const DecodedText decoded(bsd);
    CHECK(readings(decoded) == 0);
    CHECK(decoded.detector.input().unrecognised == 5);
    // Linux's in the same text is read.
    const DecodedText both(bsd + "Udp:\n    7 packets received\n");
    CHECK(readings(both) == 1);
    CHECK(has_line(both, "netstat -s0 Udp.InDatagrams of - = 7"));
}

TEST_CASE("conntrack -S: each CPU a line, or a counter a line, of the first CPU") {
    const DecodedText lines(
        "# conntrack -S\nentries   \t\t90\nsearched  \t\t2228\ninsert_failed\t\t12\ndrop      \t\t7\n"
        "icmp_error\t\t5\n");
    CHECK(lines.detector.input().unrecognised == 0);
    CHECK(readings(lines) == 4);
    CHECK(has_line(lines, "conntrack -S0 conntrack.insert_failed of cpu0 = 12"));
    CHECK(has_line(lines, "conntrack -S0 conntrack.drop of cpu0 = 7"));
    CHECK(has_line(lines, "conntrack -S0 conntrack.error of cpu0 = 5"));
    const DecodedText twice("entries 90\ndrop 7\nentries 91\ndrop 9\n");
    CHECK(has_line(twice, "conntrack -S1 conntrack.drop of cpu0 = 9"));
    for (const auto* none : {"drop 7\n", "searched 2228\ndrop 7\n", "entries many\ndrop 7\n"})
        CHECK(readings(DecodedText(none)) == 0);
    CHECK(readings(DecodedText("# conntrack -S\nentries 90\ntotal 7\n")) == 0);
    // What conntrack 1.4.4 makes of counters that only a newer kernel has.
    const DecodedText nameless(
        "cpu=0   \tfound=27 drop=6 (null)=0 (null)=3 \ncpu=1   \tfound=28 drop=7 (null)=0 (null)=4 \n"
        "cpu=2   \tfound=29 drop=8 (null)=0 (null)=5 \n");
    CHECK(nameless.detector.input().unrecognised == 0);
    CHECK(readings(nameless) == 6);
    CHECK(has_line(nameless, "conntrack -S0 conntrack.drop of cpu2 = 8"));
}

TEST_CASE("tc -s class: kind, handle and device are in the key") {
    const DecodedText decoded(
        "class htb 1:1 dev eth0 root rate 1Gbit ceil 1Gbit burst 1375b cburst 1375b \n"
        " Sent 5000 bytes 50 pkt (dropped 0, overlimits 0 requeues 0) \n backlog 0b 0p requeues 0\n"
        " lended: 17 borrowed: 0 giants: 0\n tokens: 187 ctokens: 187\n\n"
        "class htb 1:10 dev eth0 parent 1:1 leaf 10: prio 0 rate 100Mbit ceil 1Gbit burst 1600b cburst 1375b \n"
        " Sent 4000 bytes 40 pkt (dropped 3, overlimits 17 requeues 0) \n rate 0bit 0pps backlog 0b 0p requeues 0\n"
        "class fq_codel 8002:1a0 dev eth1 parent 8002: \n (dropped 2, overlimits 0 requeues 0) \n"
        "  deficit 1502 count 0 lastcount 0 ldelay 0us\n");
    CHECK(decoded.detector.input().unrecognised == 0);
    CHECK(readings(decoded) == 5 + 3 + 5 + 3);
    CHECK(has_line(decoded, "tc -s class0 class.lended of htb 1:1 eth0 = 17"));
    CHECK(has_line(decoded, "tc -s class0 class.dropped of htb 1:10 eth0 = 3"));
    CHECK(has_line(decoded, "tc -s class0 class.overlimits of htb 1:10 eth0 = 17"));
    CHECK(has_line(decoded, "tc -s class0 class.dropped of fq_codel 8002:1a0 eth1 = 2"));
    const DecodedText named(
        "# tc -s class show dev eth2\nclass htb 1:10 parent 1:1 prio 0 rate 1Gbit\n"
        " Sent 4000 bytes 40 pkt (dropped 3, overlimits 17 requeues 0) \n");
    CHECK(has_line(named, "tc -s class0 class.dropped of htb 1:10 eth2 = 3"));
}

TEST_CASE("ss: d of skmem is what a socket dropped, on a line of its own or on that of the socket") {
    const std::string memory = "\t skmem:(r213248,rb212992,t0,tb212992,f3840,w0,o0,bl0,d9182)\n";
    const DecodedText udp(
        "$ ss -uanmp\nState  Recv-Q Send-Q  Local Address:Port  Peer Address:PortProcess\n"
        "UNCONN 213248 0  127.0.0.1:8125  0.0.0.0:*    users:((\"demod\",pid=900,fd=7),(\"demod\",pid=901,fd=7))\n" +
        memory + "UNCONN 0 0  [::]:5353  [::]:*\n\t skmem:(r0,rb212992,t0,tb212992,f0,w0,o0,bl0,d5)\n" +
        "UNCONN 0 0  [fe80::1]%eth0:546  *:*\n\t skmem:(r0,rb212992,t0,tb212992,f0,w0,o0,bl0,d3)\n");
    CHECK(udp.detector.input().unrecognised == 0);
    CHECK(readings(udp) == 3);
    CHECK(has_line(udp, "ss0 ss.drops of 127.0.0.1:8125 0.0.0.0:* \"demod\",pid=900,fd=7 = 9182"));
    CHECK(has_line(udp, "ss0 ss.drops of [::]:5353 [::]:* = 5"));
    CHECK(has_line(udp, "ss0 ss.drops of [fe80::1]%eth0:546 *:* = 3"));
    const DecodedText one(
        "ESTAB 0      0      9.9.9.1:11235 9.9.9.2:48038 users:((\"a lost:5 b\",pid=1380,fd=4)) ino:19894 sk:c <-> "
        "skmem:(r0,rb262144,t0,tb46080,f266240,w0,o0,bl0,d19) ts sack cubic wscale:7,11 segs_out:139 retrans:0/7 "
        "bbr:(bw:5bps,mrtt:1)\n");
    CHECK(readings(one) == 3);
    CHECK(has_line(one, "ss0 ss.drops of 9.9.9.1:11235 9.9.9.2:48038 = 19"));
    CHECK(has_line(one, "ss0 ss.segs_out of 9.9.9.1:11235 9.9.9.2:48038 = 139"));
    CHECK(has_line(one, "ss0 ss.retrans of 9.9.9.1:11235 9.9.9.2:48038 = 7"));
    const DecodedText netid("udp   UNCONN 0 0 0.0.0.0:53 0.0.0.0:*\n" + memory +
                            "tcp   LISTEN 0 128 0.0.0.0:53 0.0.0.0:*\n" +
                            "\t skmem:(r0,rb212992,t0,tb212992,f0,w0,o0,bl0,d5) cubic\n");
    CHECK(has_line(netid, "ss0 ss.drops of udp 0.0.0.0:53 0.0.0.0:* = 9182"));
    CHECK(has_line(netid, "ss0 ss.drops of 0.0.0.0:53 0.0.0.0:* = 5"));
    // Sockets that share a port are not two samples of one; with their processes they are apart.
    const std::string socket = "UNCONN 0 0 0.0.0.0:53 0.0.0.0:*",
                      heading = "State Recv-Q Send-Q Local Address:Port Peer\n";
    const DecodedText shared(heading + socket + "\n" + memory + socket + "\n" + memory);
    CHECK(has_line(shared, "ss0 ss.drops of 0.0.0.0:53 0.0.0.0:* = 9182 part"));
    const DecodedText again(heading + socket + "\n" + memory + heading + socket + "\n" + memory);
    CHECK(has_line(again, "ss1 ss.drops of 0.0.0.0:53 0.0.0.0:* = 9182"));
    const std::string named = socket + " users:((\"demod\",pid=900,fd=7))\n" + memory;
    CHECK(has_line(DecodedText(named + named), "ss1 ss.drops of 0.0.0.0:53 0.0.0.0:* \"demod\",pid=900,fd=7 = 9182"));
    // Old kernels do not say it.
    CHECK(readings(DecodedText(socket + "\n\t skmem:(r0,rb212992,t0,tb212992,f0,w0,o0,bl0)\n")) == 0);
}

TEST_CASE("nstat and ip print the same counters as JSON") {
    const DecodedText nstat(
        "$ nstat -aj\n{\"kernel\":{\"IpInReceives\":2101517,\"TcpCurrEstab\":5,\"UdpRcvbufErrors\":3}}\n");
    CHECK(nstat.detector.input().unrecognised == 0);
    CHECK(readings(nstat) == 2);
    CHECK(has_line(nstat, "nstat0 Udp.RcvbufErrors of - = 3"));
    CHECK(has_line(DecodedText("$ nstat -j\n{\"kernel\":{\"UdpNoPorts\":7}}\n"), "nstat0 Udp.NoPorts of - = 7 rise"));
    const std::string link =
        R"([{"ifindex":1,"ifname":"lo","flags":["LOOPBACK"],"stats64":{"rx":{"bytes":8,"packets":1,"errors":0,)"
        R"("dropped":0,"over_errors":0,"multicast":0},"tx":{"bytes":8,"packets":1,"errors":0,"dropped":0,)"
        R"("carrier_errors":0,"collisions":2}}},{"ifindex":2,"ifname":"eth0","vfinfo_list":[{"vf":0,"stats":)"
        R"({"rx":{"bytes":5,"packets":1,"multicast":0,"broadcast":4,"dropped":6},"tx":{"tx_bytes":7,"tx_packets":1}}}],)"
        R"("stats64":{"rx":{"bytes":9,"packets":2,"errors":0,"dropped":17,"over_errors":0,"multicast":3,)"
        R"("missed_errors":4,"otherhost":11},"tx":{"bytes":-1,"carrier_changes":12,"dropped":13}}}])";
    const DecodedText ip(link + "\n");
    CHECK(ip.detector.input().unrecognised == 0);
    CHECK(readings(ip) == 12 + 10 + 7);
    for (const auto* line :
         {"ip -s link0 link.collisions of lo = 2", "ip -s link0 link.rx_dropped of eth0 = 17",
          "ip -s link0 link.rx_missed_errors of eth0 = 4", "ip -s link0 link.multicast of eth0 = 3",
          "ip -s link0 link.rx_otherhost_dropped of eth0 = 11", "ip -s link0 link.tx_dropped of eth0 = 13",
          "ip -s link0 link.carrier_changes of eth0 = 12", "ip -s link0 link.rx_broadcast of eth0.vf0 = 4",
          "ip -s link0 link.tx_bytes of eth0.vf0 = 7", "ip -s link0 link.rx_dropped of eth0.vf0 = 6"}) {
        CAPTURE(line);
        CHECK(has_line(ip, line));
    }
    CHECK(has_line(DecodedText(link + "\n" + link + "\n"), "ip -s link1 link.rx_dropped of eth0 = 17"));
    for (const auto* none :
         {"[{\"ifname\":\"e\\u001b\",\"stats\":{\"rx\":{\"bytes\":1}}}]\n", "{\"kernel\":{\"UdpNoPorts\":7}\n",
          "{\"kernel\":[7]}\n", "[{\"stats64\":{\"rx\":{}}}]\n",
          "[{\"ifname\":5,\"stats64\":{\"rx\":{\"bytes\":1}}}]\n", "[{\"ifname\":\"eth0\",\"stats64\":7}]\n",
          "[5,{\"ifname\":\"eth0\",\"stats\":{\"rx\":{\"a\":1}}}]\n"}) {
        CAPTURE(none);
        CHECK(readings(DecodedText(none)) == 0);
        CHECK(DecodedText(none).detector.input().unrecognised == 1);
    }
}

TEST_CASE("tcpdump counts from its own start: of several runs the sum") {
    const std::string run = "^C12 packets captured\n24 packets received by filter\n5 packets dropped by kernel\n";
    const DecodedText decoded("# tcpdump -i eth0 -w a.pcap\n" + run + "# tcpdump -i eth0 -w b.pcap\n" + run +
                              "1 packet dropped by interface\n");
    CHECK(readings(decoded) == 7);
    CHECK(has_line(decoded, "tcpdump0 tcpdump.dropped_by_kernel of - = 5 part rise"));
    CHECK(has_line(decoded, "tcpdump0 tcpdump.dropped_by_interface of - = 1 part rise"));
    for (const auto* none :
         {"12 packets were captured\n", "many packets captured\n", "12 packets dropped by kernel 6\n"})
        CHECK(readings(DecodedText(none)) == 0);
}

TEST_CASE("a script's table of softnet_stat") {
    const DecodedText decoded(
        "cpu      total    dropped   squeezed  collision\n  0 3381082968          7        113         41\n"
        "  1 3909432306          0   20694888       4558\n");
    CHECK(decoded.detector.input().unrecognised == 0);
    CHECK(readings(decoded) == 6);
    CHECK(has_line(decoded, "/proc/net/softnet_stat0 softnet.dropped of cpu0 = 7"));
    CHECK(has_line(decoded, "/proc/net/softnet_stat0 softnet.time_squeeze of cpu1 = 20694888"));
    CHECK(readings(DecodedText("cpu total used\n0 1 2\n")) == 0);
}
