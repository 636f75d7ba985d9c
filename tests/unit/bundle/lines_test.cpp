// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>

#include "base/budget.h"
#include "base/files.h"
#include "bundle/evidence.h"
#include "bundle/firewall.h"
#include "bundle/names.h"
#include "tar_text.h"

using namespace stapgen;
using namespace stapgen::bundle;
using namespace stapgen::test;

namespace {

Evidence evidence_of(const std::string& archive) {
    const auto folder = base::PrivateDirectory::create().value();
    const auto file = folder.path() / "archive";
    REQUIRE(base::replace_file(file, archive));
    return read_evidence(file, {}, std::make_shared<base::Budget>("x")).value();
}

}  // namespace

TEST_CASE("queues of listening sockets and rings of cards are read, whatever the file is called") {
    const auto evidence = evidence_of(
        tar_file("ss_-lnt",
                 "State  Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
                 "LISTEN 0      128          0.0.0.0:80        0.0.0.0:*\n"
                 "LISTEN 129    128          0.0.0.0:80        0.0.0.0:*\n"
                 "LISTEN 3      128          0.0.0.0:80        0.0.0.0:*\n"
                 "ESTAB  7      9          127.0.0.1:80      127.0.0.1:4711\n") +
        tar_file("sockets.txt",
                 "Netid State  Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
                 "u_str LISTEN 5      5      /run/x:y 17 * 0\ntcp   LISTEN 11     4096   [::]:22   [::]:*\n") +
        tar_file("ip_netns_exec_left_ethtool_-g_eth0",
                 "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nRX Mini:\tn/a\nTX:\t\t4096\n"
                 "Current hardware settings:\nRX:\t\t256\nTX:\t\t512\n\n"
                 "Channel parameters for eth0:\nPre-set maximums:\nRX:\t\t8\n") +
        tar_end);
    std::map<std::string, std::uint64_t> settings;
    for (const auto& [name, reading] : evidence.settings)
        settings[name] = reading.value;
    CHECK(settings == std::map<std::string, std::uint64_t>{{"Recv-Q of 0.0.0.0:80", 129},
                                                           {"Send-Q of 0.0.0.0:80", 128},
                                                           {"Recv-Q of [::]:22", 11},
                                                           {"Send-Q of [::]:22", 4096},
                                                           {"largest RX ring of eth0 in netns left", 4096},
                                                           {"RX ring of eth0 in netns left", 256}});
    CHECK(evidence.settings.at("Recv-Q of 0.0.0.0:80").place.line == 3);
    CHECK(evidence.read == 3);
}

TEST_CASE("the largest sample of a file counts, and what counts since boot before rises") {
    const auto of_queues = [](int first, int second) {
        return fmt::format("root@h:~# ethtool -S eth0\nNIC statistics:\n     rx_drops: {}\n     rx_drops: {}\n", first,
                           second);
    };
    const std::string nstat = "#kernel\nUdpRcvbufErrors 3 0.0\n", later = "#kernel\nUdpRcvbufErrors 5 0.0\n";
    const auto evidence =
        evidence_of(tar_file("queues.txt", of_queues(7, 11) + of_queues(13, 17)) +
                    tar_file("nstat", nstat + later + "UdpNoPorts 19 0.0\n") +
                    tar_file("proc/net/snmp", "Udp: NoPorts RcvbufErrors\nUdp: 9337 1399\n") + tar_end);
    CHECK(evidence.counters.at({"ethtool.rx_drops", "eth0"}).value == 30);
    CHECK(evidence.counters.at({"Udp.RcvbufErrors", "-"}).value == 1399);
    CHECK_FALSE(evidence.counters.at({"Udp.RcvbufErrors", "-"}).is_rise);
    const auto rises = evidence_of(tar_file("nstat", nstat + later) + tar_end);
    CHECK(rises.counters.at({"Udp.RcvbufErrors", "-"}).value == 8);
    CHECK(rises.counters.at({"Udp.RcvbufErrors", "-"}).is_rise);
}

TEST_CASE("what a file's name says") {
    CHECK(named_file("sos_commands/networking/ethtool_-S_eth0").command == "ethtool -S eth0");
    CHECK(named_file("a/ip_-s_-d_link").command == "ip -s -d link");
    CHECK(named_file("a/nft_-a_list_ruleset").command == "nft -a list ruleset");
    CHECK(named_file("cluster/host/proc/net/softnet_stat").command == "cat /proc/net/softnet_stat");
    CHECK(named_file("sos/proc/6468/net/snmp").command == "cat /proc/net/snmp");
    // sos follows no link of /sys/class/net.
    CHECK(named_file("sos/sys/devices/pci0000:00/0000:00:03.0/virtio0/net/eth0/statistics/rx_dropped").command ==
          "cat /sys/class/net/eth0/statistics/rx_dropped");
    CHECK(named_file("sos/sys/devices/system/cpu/online").command.empty());
    const auto inner = named_file("a/ip_netns_exec_left_ethtool_-S_eth0");
    CHECK(inner.command == "ethtool -S eth0");
    CHECK(inner.netns == "left");
    CHECK(named_file("proc/sys/net/ipv4/tcp_mem").setting == "net.ipv4.tcp_mem");
    CHECK(named_file("a/sysctl_-a").is_settings);
    for (const auto* const log :
         {"var/log/messages-20260101", "a/dmesg", "var/log/kern.log", "a/journalctl_--no-pager", "boot.msg"}) {
        CAPTURE(log);
        CHECK(named_file(log).is_log);
    }
    CHECK(named_file("etc/hosts").command.empty());
    CHECK_FALSE(named_file("etc/hosts").is_log);
}

TEST_CASE("rules that drop, of nft and of iptables") {
    FirewallReader reader("nft list ruleset");
    const auto read = [&](const char* line) {
        const auto rule = reader.read(line);
        return rule ? rule->name + " " + std::to_string(rule->packets) + " " + rule->of : std::string();
    };
    CHECK(read("table inet filter { # handle 1").empty());
    CHECK(read("\tchain input { # handle 1").empty());
    CHECK(read("\t\ttcp dport 7001 counter packets 17 bytes 1020 drop # handle 3") ==
          "firewall.drop 17 inet filter input: tcp dport 7001");
    CHECK(read("\t\tcounter packets 23 bytes 1 reject with icmp port-unreachable") ==
          "firewall.reject 23 inet filter input:");
    CHECK(read("\t\ttcp dport 22 counter packets 5 bytes 1020 accept").empty());
    CHECK(read("\t\ttcp dport 7001 drop").empty());
    reader = FirewallReader("iptables -t mangle -vnL");
    CHECK(read("Chain INPUT (policy DROP 19 packets, 1140 bytes)") == "firewall.drop 19 ip mangle INPUT: policy");
    CHECK(read("Chain OUTPUT (policy ACCEPT 19 packets, 1140 bytes)").empty());
    CHECK(read("    pkts      bytes target     prot opt in     out     source               destination").empty());
    CHECK(read("      17     1020 DROP       tcp  --  *      *       0.0.0.0/0            0.0.0.0/0            tcp "
               "dpt:7001") == "firewall.drop 17 ip mangle OUTPUT: tcp tcp dpt:7001");
    CHECK(read("  17K  1020 REJECT       all  --  *      *       0.0.0.0/0            0.0.0.0/0") ==
          "firewall.reject 17000 ip mangle OUTPUT: all");
    CHECK(read("  17  1020 ACCEPT       all  --  *      *       0.0.0.0/0            0.0.0.0/0").empty());
    reader = FirewallReader("ip6tables -vnL");
    CHECK(read("Chain INPUT (policy ACCEPT 19 packets, 1140 bytes)").empty());
    CHECK(read("    7  1020 DROP       all      *      *       ::/0                 ::/0") ==
          "firewall.drop 7 ip6 filter INPUT: all");
    CHECK(
        read("   11  1020 DROP       tcp      eth0   *       ::/0                 ::/0                 tcp dpt:7001") ==
        "firewall.drop 11 ip6 filter INPUT: tcp tcp dpt:7001");
    CHECK(
        read("   13  1020 DROP       6    --  *      *       ::/0                 ::/0                 tcp dpt:7001") ==
        "firewall.drop 13 ip6 filter INPUT: 6 tcp dpt:7001");
}

TEST_CASE("a table of the firewall gives its rules no more than they show of it") {
    FirewallReader reader("nft list ruleset");
    CHECK_FALSE(reader.read("table inet " + std::string(400'000, 't') + " {"));
    CHECK_FALSE(reader.read("chain " + std::string(400'000, 'c') + " {"));
    const auto rule = reader.read("tcp dport 7001 counter packets 17 bytes 1020 drop");
    REQUIRE(rule);
    CHECK(rule->packets == 17);
    CHECK(rule->of.size() == 100);
}
