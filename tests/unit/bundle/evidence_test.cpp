// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/evidence.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/files.h"
#include "bundle/firewall.h"
#include "bundle/names.h"
#include "tar_text.h"

using namespace stapgen;
using namespace stapgen::bundle;
using namespace stapgen::test;

namespace {

const std::string snmp =
    "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors\nUdp: 225645 9337 1408 236183 1399\n";
const std::string statistics = "NIC statistics:\n     rx_packets: 2101517\n     rx_missed_errors: 211\n";
const std::string dmesg =
    "[    0.000000] Linux version 6.12.117\n[ 1009.1] nf_conntrack: table full, dropping packet\n"
    "[ 1010.1] nf_conntrack: table full, dropping packet\n";

std::uint64_t value_of(const Evidence& evidence, const std::string& name, const std::string& of = "-") {
    const auto found = evidence.counters.find({name, of});
    return found == evidence.counters.end() ? UINT64_MAX : found->second.value;
}

void check_host(const Evidence& evidence) {
    CHECK(value_of(evidence, "Udp.RcvbufErrors") == 1399);
    CHECK(value_of(evidence, "ethtool.rx_missed_errors", "eth0") == 211);
    CHECK(value_of(evidence, "link.rx_dropped", "eth0") == 17);
    CHECK(value_of(evidence, "ethtool.rx_missed_errors", "eth0 in netns left") == 3);
    CHECK(evidence.counters.at({"Udp.RcvbufErrors", "-"}).place.line == 2);
    CHECK(evidence.settings.at("net.core.rmem_max").value == 212992);
    CHECK(evidence.settings.at("net.core.somaxconn").value == 4096);
    CHECK(evidence.uptime_s == 12.0 * 86400 + 3 * 3600 + 7 * 60);
    CHECK(evidence.release == "6.12.117+deb13-amd64");
    const auto& log = evidence.logs.at("nf_conntrack: table full");
    CHECK(log.count == 2);
    CHECK(log.first.line == 2);
    CHECK(evidence.unknown == 1);
    CHECK(evidence.empty == 1);
}

using Files = std::vector<std::pair<std::string, std::string>>;
const Files host{
    {"sos/proc/net/snmp", snmp},
    {"sos/sos_commands/networking/ethtool_-S_eth0", statistics},
    {"sos/sos_commands/networking/ip_netns_exec_left_ethtool_-S_eth0", "NIC statistics:\n     rx_missed_errors: 3\n"},
    {"sos/sys/class/net/eth0/statistics/rx_dropped", "17\n"},
    {"sos/sos_commands/kernel/sysctl_-a", "net.core.rmem_max = 212992\nnet.ipv4.tcp_mem = 1 2 3\n"},
    {"sos/proc/sys/net/core/somaxconn", "4096\n"},
    {"sos/sos_commands/host/uptime", " 17:04:11 up 12 days,  3:07,  2 users,  load average: 0.52, 0.58, 0.59\n"},
    {"sos/sos_commands/kernel/uname_-a",
     "Linux web1 6.12.117+deb13-amd64 #1 SMP PREEMPT_DYNAMIC Debian x86_64 GNU/Linux\n"},
    {"sos/sos_commands/kernel/dmesg", dmesg},
    {"sos/etc/hosts", "127.0.0.1 localhost\n"},
    {"sos/sos_commands/networking/netstat_-s", "sh: netstat: command not found\n"},
};
const std::vector<std::string> texts{"nf_conntrack: table full"};

}  // namespace

TEST_CASE("a host's evidence is the same of a folder, of its archive, and of one in an archive") {
    const auto folder = base::PrivateDirectory::create();
    REQUIRE(folder);
    std::string archive;
    for (const auto& [name, content] : host) {
        const auto path = folder->path() / "tree" / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << content;
        archive += tar_file(name, content);
    }
    std::filesystem::create_symlink("/etc/hostname", folder->path() / "tree/sos/link");
    const auto of_folder = read_evidence(folder->path() / "tree", texts);
    REQUIRE(of_folder);
    check_host(*of_folder);
    CHECK(of_folder->walked.passed_over == 1);
    CHECK(of_folder->walked.files == 11);

    const auto file = folder->path() / "sos.tar";
    REQUIRE(base::replace_file(file, archive + tar_end));
    CHECK(is_archive(file).value());
    const auto of_archive = read_evidence(file, texts);
    REQUIRE(of_archive);
    check_host(*of_archive);
    CHECK(of_archive->counters.at({"Udp.RcvbufErrors", "-"}).place.file == "sos/proc/net/snmp");

    REQUIRE(base::replace_file(file, tar_file("hosts/sos.tar", archive + tar_end) + tar_end));
    const auto nested = read_evidence(file, texts);
    REQUIRE(nested);
    check_host(*nested);
    CHECK(nested->counters.at({"Udp.RcvbufErrors", "-"}).place.file == "hosts/sos.tar: sos/proc/net/snmp");
}

TEST_CASE("supportconfig's files have a section for each command and file") {
    const auto folder = base::PrivateDirectory::create();
    REQUIRE(folder);
    const auto section = [](const std::string& kind, const std::string& title, const std::string& content) {
        return "#==[ " + kind + " ]======================================#\n# " + title + "\n" + content + "\n";
    };
    const std::string left = section("Command", "/sbin/ip netns exec left /usr/sbin/ethtool -S eth0",
                                     "NIC statistics:\n     rx_missed_errors: 3\n");
    const std::string network = section("Command", "hwinfo --netcard", "ERROR: Command not found or not executable\n") +
                                section("Configuration File", "/etc/HOSTNAME - File not found", "") +
                                section("Command", "/usr/sbin/ethtool -S eth0", statistics) + left +
                                section("Command", "/sbin/iptables -t filter -nvL",
                                        "Chain INPUT (policy DROP 17 packets, 1020 bytes)\n pkts bytes target prot opt "
                                        "in out source destination\n");
    const auto file = folder->path() / "scc.tar";
    REQUIRE(base::replace_file(
        file, tar_file("scc/network.txt", network) +
                  tar_file("scc/env.txt", section("Command", "/sbin/sysctl -a", "net.core.rmem_max = 212992\n")) +
                  tar_file("scc/basic-environment.txt",
                           section("Command", "/bin/uname -a", "Linux h 6.4.0-150600.23-default #1 SMP x86_64\n")) +
                  tar_file("scc/messages.txt",
                           section("Log File", "/var/log/warn - Last 500 Lines", "nf_conntrack: table full\n")) +
                  tar_file("scc/rpm.txt", section("Command", "rpm -qa", "nothing\n")) + tar_end));
    const auto evidence = read_evidence(file, texts);
    REQUIRE(evidence);
    CHECK(value_of(*evidence, "ethtool.rx_missed_errors", "eth0") == 211);
    CHECK(evidence->counters.at({"ethtool.rx_missed_errors", "eth0"}).place.line == 12);
    CHECK(value_of(*evidence, "ethtool.rx_missed_errors", "eth0 in netns left") == 3);
    CHECK(value_of(*evidence, "firewall.drop", "ip filter INPUT: policy") == 17);
    CHECK(evidence->settings.at("net.core.rmem_max").place.line == 3);
    CHECK(evidence->release == "6.4.0-150600.23-default");
    CHECK(evidence->logs.at("nf_conntrack: table full").count == 1);
    CHECK(evidence->unknown == 1);
}

TEST_CASE("a file of drops is one, however many sections have some") {
    const auto folder = base::PrivateDirectory::create();
    REQUIRE(folder);
    const std::string drops = "#==[ Command ]===#\n# dropwatch\n12 drops at location 0xffffffff815d0137\n";
    const auto file = folder->path() / "a.tar";
    REQUIRE(base::replace_file(file, tar_file("net.txt", drops + drops) + tar_end));
    const auto evidence = read_evidence(file, {});
    REQUIRE(evidence);
    CHECK(evidence->results == std::vector<std::string>{"net.txt"});
}

TEST_CASE("a file that is no text, and one with nothing known in its beginning") {
    const auto folder = base::PrivateDirectory::create();
    REQUIRE(folder);
    const auto file = folder->path() / "a.tar";
    std::string prose;
    while (prose.size() < 32U << 10U)
        prose += "nothing that is known\n";
    REQUIRE(base::replace_file(file, tar_file("program", std::string("\0", 1) + "\n" + statistics) +
                                         tar_file("late", prose + statistics) +
                                         tar_file("early", "noise\n" + statistics) + tar_end));
    const auto evidence = read_evidence(file, {});
    REQUIRE(evidence);
    CHECK(evidence->read == 1);
    CHECK(evidence->unknown == 2);
    CHECK(evidence->counters.begin()->second.place.file == "early");
}

TEST_CASE("of tables of a firewall each counts, and what lists one again does not") {
    const auto folder = base::PrivateDirectory::create();
    REQUIRE(folder);
    const auto list = [](int packets) {
        return "Chain INPUT (policy DROP " + std::to_string(packets) + " packets, 1020 bytes)\n";
    };
    // As sos has them, by name.
    const std::string in = "sos/sos_commands/firewall_tables/";
    const auto file = folder->path() / "a.tar";
    REQUIRE(base::replace_file(
        file, tar_file(in + "ip6tables_-vnxL", list(0)) + tar_file(in + "ip_netns_exec_left_iptables_-vnxL", list(3)) +
                  tar_file(in + "iptables_-t_filter_-nvL", list(17)) +
                  tar_file(in + "iptables_-t_mangle_-nvL", list(5)) + tar_file(in + "iptables_-vnxL", list(19)) +
                  tar_file(in + "nft_-a_list_ruleset",
                           "table ip filter {\n chain INPUT {\n counter packets 23 bytes 1020 drop\n}\n}\n"
                           "table inet own {\n chain in {\n counter packets 7 bytes 1020 drop\n}\n}\n") +
                  tar_end));
    const auto evidence = read_evidence(file, {});
    REQUIRE(evidence);
    std::map<std::string, std::uint64_t> packets;
    for (const auto& [key, reading] : evidence->counters)
        packets[key.second] = reading.value;
    CHECK(packets == std::map<std::string, std::uint64_t>{{"ip filter INPUT: policy", 17},
                                                          {"ip filter INPUT: policy in netns left", 3},
                                                          {"ip mangle INPUT: policy", 5},
                                                          {"ip6 filter INPUT: policy", 0},
                                                          {"inet own in:", 7}});
}

TEST_CASE("of two kernels in one archive both are named") {
    const auto folder = base::PrivateDirectory::create();
    REQUIRE(folder);
    const auto file = folder->path() / "a.tar";
    REQUIRE(
        base::replace_file(file, tar_file("uname_-a", "Linux web1 6.1.0-9-amd64 #1 SMP Debian x86_64\n") +
                                     tar_file("proc/version", "Linux version 6.12.1-1-amd64 (x@y) (gcc) #1 SMP\n")));
    const auto evidence = read_evidence(file, {});
    REQUIRE(evidence);
    REQUIRE(evidence->conflicts.size() == 1);
    CHECK(evidence->conflicts[0].first == "6.1.0-9-amd64");
    CHECK(evidence->conflicts[0].second == "6.12.1-1-amd64");
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
