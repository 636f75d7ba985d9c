// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/findings.h"

#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "bundle/show.h"
#include "recipe/recipe.h"

using namespace stapgen;
using namespace stapgen::bundle;

namespace {

SharedText file(const char* name) {
    return std::make_shared<const std::string>(name);
}

const std::vector<Rule>& rules() {
    static const auto all = read_rules(SOURCE_DIR "/findings.toml");
    REQUIRE_MESSAGE(all, all.error().what);
    return *all;
}

Evidence counted(const std::map<std::string, std::uint64_t>& counters) {
    Evidence evidence;
    for (const auto& [name, value] : counters)
        evidence.counters[{name, "-"}] = {value, {file("file"), 7}};
    return evidence;
}

std::vector<std::string> names(const Evidence& evidence, const Evidence* before = nullptr) {
    std::vector<std::string> found;
    for (const auto& finding : findings_of(rules(), evidence, before))
        found.push_back(finding.rule->name);
    return found;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("each rule says what it is to say, of the counters that tools print") {
    const std::map<std::string, std::string> expected{
        {"TcpExt.ListenOverflows", "listen-overflow"},
        {"link.rx_missed_errors", "ring-full"},
        {"ethtool.rx_no_buffer_count", "ring-full"},
        {"ethtool.rx_queue_0_drops", "ring-full"},
        {"ethtool.rx_out_of_buffer", "ring-full"},
        {"ethtool.rx0_drops", "ring-full"},
        {"softnet.dropped", "backlog-full"},
        {"Udp.RcvbufErrors", "receive-buffer-full"},
        {"TcpExt.TCPBacklogDrop", "receive-buffer-full"},
        {"conntrack.drop", "conntrack-full"},
        {"conntrack.insert_failed", "conntrack-clash"},
        {"neigh.table_fulls", "neighbour-table-full"},
        {"firewall.drop", "firewall"},
        {"firewall.reject", "firewall"},
        {"qdisc.dropped", "queue-discipline"},
        {"Ip.FragFails", "mtu"},
        {"Ip6.InTooBigErrors", "mtu"},
        {"Udp.InCsumErrors", "bad-checksum"},
        {"link.rx_crc_errors", "wire-errors"},
        {"ethtool.rx_crc_errors", "wire-errors"},
        {"TcpExt.IPReversePathFilter", "reverse-path"},
        {"Udp.MemErrors", "no-memory"},
        {"TcpExt.SyncookiesSent", "syn-cookies"},
    };
    for (const auto& [counter, rule] : expected) {
        CAPTURE(counter);
        CHECK(names(counted({{counter, 17}})) == Names{rule});
        CHECK(names(counted({{counter, 0}})).empty());
    }
}

TEST_CASE("what is no problem is none") {
    for (const auto* const counter :
         {"Ip.InReceives", "link.rx_packets", "link.rx_bytes", "ethtool.rx_queue_0_packets",
          "ethtool.rx_queue_0_xdp_drops", "ethtool.tx_queue_0_xdp_tx_drops", "softnet.processed", "conntrack.found",
          "conntrack.search_restart", "TcpExt.TCPPureAcks", "Udp.NoPorts", "TcpExt.DelayedACKs", "qdisc.requeues",
          "qdisc.overlimits", "sockstat.TCP.tw", "TcpExt.TW", "TcpExt.TCPLossProbes", "Icmp.InEchos",
          "link.carrier_changes"}) {
        CAPTURE(counter);
        CHECK(names(counted({{counter, 1000003}})).empty());
    }
    // A share that every host has.
    CHECK(names(counted({{"Tcp.RetransSegs", 997}, {"Tcp.OutSegs", 100003}})).empty());
    CHECK(names(counted({{"Tcp.RetransSegs", 1009}, {"Tcp.OutSegs", 100003}})) == Names{"retransmits"});
    CHECK(names(counted({{"Tcp.RetransSegs", 7}, {"Tcp.OutSegs", 23}})).empty());
    CHECK(names(counted({{"softnet.time_squeeze", 9}, {"softnet.processed", 100003}})).empty());
    CHECK(names(counted({{"softnet.time_squeeze", 11}, {"softnet.processed", 100003}})) == Names{"softirq-budget"});
    CHECK(names(counted({{"Ip.OutNoRoutes", 97}})).empty());
    CHECK(names(counted({{"Ip.OutNoRoutes", 101}})) == Names{"no-route"});
}

TEST_CASE("what is full now is the worst, and what is nearly full is a setting") {
    const auto of_table = [](std::uint64_t count) {
        auto evidence = counted({{"softnet.dropped", 1009}});
        evidence.settings["net.netfilter.nf_conntrack_max"] = {65536, {file("sysctl_-a"), 3}};
        evidence.settings["net.netfilter.nf_conntrack_count"] = {count, {file("sysctl_-a"), 2}};
        return evidence;
    };
    CHECK(names(of_table(58982)) == Names{"backlog-full"});
    const auto near = findings_of(rules(), of_table(58983), nullptr);
    REQUIRE(near.size() == 2);
    CHECK(near[1].rule->name == "conntrack-full");
    CHECK(near[1].severity == Severity::setting);
    CHECK(near[1].means == near[1].rule->near);
    const auto full = findings_of(rules(), of_table(65536), nullptr);
    REQUIRE(full.size() == 2);
    CHECK(full[0].rule->name == "conntrack-full");
    CHECK(full[0].now);
    CHECK(full[0].severity == Severity::lost);
    CHECK(full[0].percent == 100);
    CHECK(full[0].percent_of == "net.netfilter.nf_conntrack_max");
    CHECK(full[0].seen[0].place.line == 2);
}

TEST_CASE("a listen queue is full above its limit, and each is compared with its own") {
    const auto of_queue = [](std::uint64_t waiting) {
        Evidence evidence;
        evidence.settings["Recv-Q of 0.0.0.0:80"] = {waiting, {file("ss_-lnt"), 2}};
        evidence.settings["Send-Q of 0.0.0.0:80"] = {128, {file("ss_-lnt"), 2}};
        evidence.settings["Recv-Q of 127.0.0.1:631"] = {97, {file("ss_-lnt"), 3}};
        evidence.settings["Send-Q of 127.0.0.1:631"] = {4096, {file("ss_-lnt"), 3}};
        return findings_of(rules(), evidence, nullptr);
    };
    CHECK(of_queue(115).empty());
    REQUIRE(of_queue(128).size() == 1);
    CHECK_FALSE(of_queue(128)[0].now);
    const auto full = of_queue(129);
    REQUIRE(full.size() == 1);
    CHECK(full[0].rule->name == "listen-overflow");
    CHECK(full[0].now);
    CHECK(full[0].seen.size() == 1);
    CHECK(full[0].percent_of == "Send-Q of 0.0.0.0:80");
}

TEST_CASE("lines of logs are evidence, those of the earlier archive none") {
    const auto logged = [](std::int64_t count, std::string first) {
        Evidence evidence;
        evidence.logs["nf_conntrack: table full"] = {count, {file("dmesg"), 1009}, std::move(first)};
        return evidence;
    };
    const auto evidence = logged(23, "[ 7.1] nf_conntrack: table full");
    const auto found = findings_of(rules(), evidence, nullptr);
    REQUIRE(found.size() == 1);
    CHECK(found[0].rule->name == "conntrack-full");
    CHECK(found[0].seen[0].value == 23);
    CHECK(found[0].seen[0].place.line == 1009);
    const auto same = logged(23, "[ 7.1] nf_conntrack: table full");
    CHECK(findings_of(rules(), evidence, &same).empty());
    const auto earlier = logged(19, "[ 7.1] nf_conntrack: table full");
    CHECK(findings_of(rules(), evidence, &earlier)[0].seen[0].value == 4);
    const auto rotated = logged(31, "[ 3.1] nf_conntrack: table full");
    CHECK(findings_of(rules(), evidence, &rotated)[0].seen[0].value == 23);
}

TEST_CASE("a ring's size is shown for devices whose counters are") {
    Evidence evidence;
    evidence.counters[{"ethtool.rx_missed_errors", "eth0"}] = {211, {file("ethtool_-S_eth0"), 3}};
    for (const auto* const device : {"eth0", "eth1"})
        evidence.settings[std::string("RX ring of ") + device] = {256, {file("ethtool_-g"), 8}};
    const auto found = findings_of(rules(), evidence, nullptr);
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].seen.size() == 2);
    CHECK(found[0].seen[1].what == "RX ring of eth0");
    CHECK(found[0].sum == 211);
}

TEST_CASE("what counts losses and is in no finding is in a list, those by name last") {
    recipe::Recipe counters;
    counters.meanings = {{"TcpExt.ListenOverflows", "found the queue full", true},
                         {"TcpExt.ListenDrops", "all attempts", true},
                         {"Ip.OutNoRoutes", "no route", true},
                         {"ethtool.*drop*", "by its name", false, true},
                         {"Tcp.OutRsts", "resets"}};
    auto evidence = counted({{"TcpExt.ListenOverflows", 1009},
                             {"TcpExt.ListenDrops", 1013},
                             {"Ip.OutNoRoutes", 17},
                             {"Tcp.OutRsts", 100003},
                             {"Ip.InReceives", 1000003}});
    evidence.counters[{"ethtool.odd_drops", "eth0"}] = {2003, {file("ethtool_-S_eth0"), 3}};
    evidence.counters[{"ethtool.odd_drops", "eth1"}] = {3001, {file("ethtool_-S_eth1"), 3}};
    const auto losses_since = [&](const Evidence* before) {
        return other_losses(counters, findings_of(rules(), evidence, before), evidence, before);
    };
    const auto losses = losses_since(nullptr);
    REQUIRE(losses.size() == 3);
    CHECK(losses[0].counter == "TcpExt.ListenDrops");
    CHECK(losses[0].meaning == "all attempts");
    CHECK(losses[0].sum == 1013);
    CHECK(losses[1].counter == "Ip.OutNoRoutes");
    CHECK(losses[2].by_name);
    CHECK(losses[2].sum == 5004);
    REQUIRE(losses[2].seen.size() == 2);
    CHECK(losses[2].seen[0].what == "ethtool.odd_drops of eth1");
    auto earlier = evidence;
    earlier.counters[{"TcpExt.ListenDrops", "-"}].value = 1000;
    const auto risen = losses_since(&earlier);
    REQUIRE(risen.size() == 1);
    CHECK(risen[0].sum == 13);
}

TEST_CASE("of two archives counts what rose, and a host that was booted between has risen by nothing known") {
    const auto before = counted({{"TcpExt.ListenOverflows", 101}, {"softnet.dropped", 7}, {"qdisc.dropped", 1000}});
    const auto after = counted(
        {{"TcpExt.ListenOverflows", 113}, {"softnet.dropped", 7}, {"qdisc.dropped", 3}, {"Udp.RcvbufErrors", 5}});
    const auto found = findings_of(rules(), after, &before);
    REQUIRE(found.size() == 1);
    CHECK(found[0].rule->name == "listen-overflow");
    CHECK(found[0].sum == 12);
    // What nstat printed last says nothing of the time between them.
    auto printed = after;
    printed.counters[{"TcpExt.ListenOverflows", "-"}].is_rise = true;
    CHECK(findings_of(rules(), printed, &before).empty());
}

TEST_CASE("a counter of the kernel that fell says that archives are not of one host and boot") {
    const auto before = counted({{"Udp.InDatagrams", 900}, {"Ip.InReceives", 4294967290}, {"qdisc.dropped", 1000}});
    CHECK(fallen_counter(before, counted({{"Udp.InDatagrams", 100}})) == "Udp.InDatagrams, 900 and 100");
    CHECK(fallen_counter(before, counted({{"Udp.InDatagrams", 900}, {"qdisc.dropped", 3}})).empty());
    CHECK(fallen_counter(before, counted({{"Ip.InReceives", 710}})).empty());
    CHECK(fallen_counter(before, {}).empty());
}

TEST_CASE("worst first: what was lost before what is late, and more before less") {
    CHECK(names(counted({{"softnet.time_squeeze", 1009},
                         {"softnet.processed", 100003},
                         {"softnet.dropped", 7},
                         {"Udp.RcvbufErrors", 11}})) == Names{"receive-buffer-full", "backlog-full", "softirq-budget"});
}

TEST_CASE("a report names each finding with its evidence, and says where there is none") {
    auto evidence = counted({{"softnet.dropped", 1009}});
    evidence.uptime_s = 12 * 86400 + 100;
    evidence.release = "6.12.1";
    evidence.conflicts = {{"kernel", "6.12.1", "6.1.0", {file("uname_-a"), 1}, {file("proc/version"), 3}}};
    Report report{"a.tar", &evidence, nullptr, findings_of(rules(), evidence, nullptr)};
    std::ostringstream text, json;
    write_text(report, 80, text);
    CHECK(text.str().find("lost: backlog-full, 1,009 since boot, 12 days\n") != std::string::npos);
    CHECK(text.str().find("  softnet.dropped\n               file:7\n") != std::string::npos);
    write_json(report, json);
    CHECK(json.str().find(R"("name":"backlog-full","severity":"lost")") != std::string::npos);
    CHECK(
        json.str().find(R"("first":"6.12.1","first_file":"uname_-a","second":"6.1.0","second_file":"proc/version")") !=
        std::string::npos);
    report.findings.clear();
    text.str({});
    write_text(report, 80, text);
    CHECK(text.str().starts_with("a.tar, Linux 6.12.1: nothing in it points to lost or late packets\n"));
}

TEST_CASE("a table of rules that is wrong is refused with its place") {
    const auto folder = base::PrivateDirectory::create();
    REQUIRE(folder);
    const auto file = folder->path() / "findings.toml";
    const auto refusal = [&](const std::string& text) {
        REQUIRE(base::replace_file(file, text));
        const auto read = read_rules(file);
        return read ? std::string() : read.error().what;
    };
    const std::string begin = "[[finding]]\nname = 'x'\nmeans = 'm'\nadvice = 'a'\n";
    CHECK(refusal(begin + "severity = 'bad'\nlogs = ['x']\n").find("severity") != std::string::npos);
    CHECK(refusal(begin + "severity = 'lost'\n").find("neither") != std::string::npos);
    CHECK(refusal(begin + "severity = 'lost'\nfull = 'x'\n").find("belong together") != std::string::npos);
    CHECK(refusal(begin + "severity = 'lost'\nfull = 'x of *'\nlimit = 'y'\nnear = 'n'\n").find("one each") !=
          std::string::npos);
    CHECK(refusal(begin + "severity = 'lost'\nlogs = ['x']\nbeside = ['y']\n").find("beside") != std::string::npos);
    CHECK(refusal(begin + "severity = 'lost'\nlogs = ['x']\nlog = 1\n").find("log") != std::string::npos);
    CHECK(refusal(begin + "severity = 'lost'\nlogs = ['x']\n").empty());
}
