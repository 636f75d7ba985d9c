// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/evidence.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/budget.h"
#include "base/files.h"
#include "base/limits.h"
#include "bundle/copies.h"
#include "tar_text.h"
#include "unit/packed.h"

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
    const auto of_folder = read_evidence(folder->path() / "tree", texts, std::make_shared<base::Budget>("archive"));
    REQUIRE(of_folder);
    check_host(*of_folder);
    CHECK(of_folder->walked.passed_over == 1);
    CHECK(of_folder->walked.files == 11);

    const auto file = folder->path() / "sos.tar";
    REQUIRE(base::replace_file(file, archive + tar_end));
    CHECK(is_archive(file).value());
    const auto of_archive = read_evidence(file, texts, std::make_shared<base::Budget>("archive"));
    REQUIRE(of_archive);
    check_host(*of_archive);
    CHECK(*of_archive->counters.at({"Udp.RcvbufErrors", "-"}).place.file == "sos/proc/net/snmp");

    REQUIRE(base::replace_file(file, tar_file("hosts/sos.tar", archive + tar_end) + tar_end));
    const auto nested = read_evidence(file, texts, std::make_shared<base::Budget>("archive"));
    REQUIRE(nested);
    check_host(*nested);
    CHECK(*nested->counters.at({"Udp.RcvbufErrors", "-"}).place.file == "hosts/sos.tar: sos/proc/net/snmp");
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
    const auto evidence = read_evidence(file, texts, std::make_shared<base::Budget>("archive"));
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
    const auto evidence = read_evidence(file, {}, std::make_shared<base::Budget>("archive"));
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
    const auto evidence = read_evidence(file, {}, std::make_shared<base::Budget>("archive"));
    REQUIRE(evidence);
    CHECK(evidence->read == 1);
    CHECK(evidence->unknown == 2);
    CHECK(*evidence->counters.begin()->second.place.file == "early");
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
    const auto evidence = read_evidence(file, {}, std::make_shared<base::Budget>("archive"));
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
    const auto evidence = read_evidence(file, {}, std::make_shared<base::Budget>("archive"));
    REQUIRE(evidence);
    REQUIRE(evidence->conflicts.size() == 1);
    CHECK(evidence->conflicts[0].first == "6.1.0-9-amd64");
    CHECK(evidence->conflicts[0].second == "6.12.1-1-amd64");
}

namespace {

Evidence evidence_of(const std::string& archive, const std::shared_ptr<base::Budget>& budget) {
    const auto folder = base::PrivateDirectory::create().value();
    const auto file = folder.path() / "archive";
    REQUIRE(base::replace_file(file, archive));
    return read_evidence(file, texts, budget).value();
}

/// pax's, for a name that the header has no room for.
std::string long_named_file(const std::string& name, const std::string& content) {
    const auto record = [&](std::size_t size) { return fmt::format("{} path={}\n", size, name); };
    auto size = record(0).size();
    while (record(size).size() != size)
        ++size;
    return tar_entry("pax", 'x', record(size)) + tar_file("short", content);
}

}  // namespace

TEST_CASE("archives in archives unpack to what the whole of them may, whatever the levels") {
    // Each level alone would be fine.
    std::string level = tar_file("var/log/messages", std::string(1U << 20U, '\n')) + tar_end;
    for (int depth = 0; depth < 2; ++depth) {
        const auto packed = packed::gzip(level);
        level.clear();
        for (int i = 0; i < 16; ++i)
            level += tar_file(fmt::format("{}.tar.gz", i), packed);
        level += tar_end;
    }
    const auto budget = std::make_shared<base::Budget>("x", base::limits::Allowance{std::uint64_t{8} << 20U, 0});
    const auto evidence = evidence_of(tar_file("proc/net/snmp", snmp) + level, budget);
    CHECK(budget->over());
    CHECK(evidence.read < 16);
    REQUIRE_FALSE(evidence.walked.damaged.empty());
    CHECK(evidence.walked.damaged.back() == budget->over()->what);
    // What came before stands.
    CHECK(value_of(evidence, "Udp.RcvbufErrors") == 1399);
}

TEST_CASE("a name that is longer than any path is no name, and the others are read") {
    const auto evidence = evidence_of(
        long_named_file("proc/sys/" + std::string(base::limits::path_bytes, 'a'), "4096\n") +
            long_named_file("proc/sys/" + std::string(1000, 'b'), "17\n") + tar_file("proc/net/snmp", snmp) + tar_end,
        std::make_shared<base::Budget>("x"));
    CHECK(evidence.walked.files == 3);
    CHECK(evidence.walked.unreadable == 1);
    CHECK(evidence.settings.size() == 1);
    CHECK(value_of(evidence, "Udp.RcvbufErrors") == 1399);
}

TEST_CASE("counters and settings have so much room, share their file's path, and what is beyond is counted") {
    constexpr int count = 200'000;
    std::string settings;
    for (int i = 0; i < count; ++i)
        settings += fmt::format("net.x.{:x} = 1\n", i);
    const auto evidence = evidence_of(tar_file("sysctl_-a", settings) + tar_end, std::make_shared<base::Budget>("x"));
    CHECK(evidence.left_out > 0);
    CHECK(evidence.settings.size() + static_cast<std::size_t>(evidence.left_out) == count);
    const auto& first = evidence.settings.begin()->second.place.file;
    CHECK(first.use_count() >= static_cast<long>(evidence.settings.size()));
}

TEST_CASE("a network namespace has a name that can be one, and a kernel that contradicts is said once") {
    const auto section = [](const std::string& title, const std::string& content) {
        return "#==[ Command ]======#\n# " + title + "\n" + content + "\n";
    };
    std::string text =
        section("/sbin/ip netns exec " + std::string(base::limits::name_bytes + 1, 'n') + " /sbin/ethtool -S eth0",
                statistics) +
        section("/sbin/ip netns exec left /sbin/ethtool -S eth0", statistics);
    for (int i = 0; i < 3000; ++i)
        text += section("/bin/uname -a", fmt::format("Linux h 6.{}.0-x #1 SMP x86_64\n", i % 101));
    const auto evidence = evidence_of(tar_file("scc/network.txt", text) + tar_end, std::make_shared<base::Budget>("x"));
    CHECK(value_of(evidence, "ethtool.rx_missed_errors", "eth0 in netns left") == 211);
    CHECK(evidence.counters.size() == 2);
    CHECK(evidence.release == "6.0.0-x");
    CHECK(evidence.conflicts.size() == 16);
}

TEST_CASE("copies out of an archive have one sum of bytes") {
    const auto folder = base::PrivateDirectory::create().value();
    const auto file = folder.path() / "archive";
    std::string archive;
    std::set<std::string> wanted;
    // Packed to a hundredth: to less it would not be unpacked.
    std::string content;
    for (std::uint32_t i = 0; i < 10U << 10U; ++i)
        content += fmt::format("{:08x}{}", i * 2654435761U, std::string(1016, '\n'));
    const auto packed = packed::gzip(content);
    for (int i = 0; i < 4; ++i) {
        archive += tar_file(fmt::format("{}.txt", i), packed);
        wanted.insert(fmt::format("{}.txt", i));
    }
    REQUIRE(base::replace_file(file, archive + tar_end));
    const auto copies = copies_of(file, wanted, std::make_shared<base::Budget>("x")).value();
    CHECK(copies.files.size() == 3);
    CHECK(copies.left_out.size() == 1);
    std::uintmax_t sum = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(copies.folder.path()))
        sum += entry.is_regular_file() ? entry.file_size() : 0;
    CHECK(sum == 30U << 20U);
}

TEST_CASE("what is damaged in a packed file of an archive is said") {
    const auto packed = packed::gzip(snmp + std::string(100'000, '\n'));
    const auto evidence = evidence_of(tar_file("proc/net/snmp", packed.substr(0, packed.size() - 9)) +
                                          tar_file("sysctl_-a", "net.core.rmem_max = 17\n") + tar_end,
                                      std::make_shared<base::Budget>("x"));
    CHECK(evidence.walked.damaged == std::vector<std::string>{"proc/net/snmp ends in the middle"});
    CHECK(evidence.settings.size() == 1);
}

TEST_CASE("no link that takes the place of a file or folder is followed") {
    const auto folder = base::PrivateDirectory::create().value();
    const auto tree = folder.path() / "tree";
    std::filesystem::create_directories(tree / "a");
    std::filesystem::create_directories(folder.path() / "outside/proc/net");
    std::ofstream(folder.path() / "outside/proc/net/snmp") << snmp;
    std::ofstream(tree / "a/sysctl_-a") << "net.core.rmem_max = 17\n";
    std::filesystem::create_symlink(folder.path() / "outside", tree / "b");
    std::filesystem::create_symlink(folder.path() / "outside/proc/net/snmp", tree / "snmp");
    const auto evidence = read_evidence(tree, {}, std::make_shared<base::Budget>("x")).value();
    CHECK(evidence.counters.empty());
    CHECK(evidence.walked.passed_over == 2);
    CHECK(evidence.settings.size() == 1);
}
