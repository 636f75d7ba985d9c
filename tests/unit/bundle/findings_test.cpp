// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/findings.h"

#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "bundle/show.h"

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
        evidence.counters[{name, "-"}] = {value, {file("file"), 7}, "nstat"};
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

TEST_CASE("settings and logs are evidence, too") {
    Evidence evidence;
    evidence.settings["net.netfilter.nf_conntrack_max"] = {65536, {file("sysctl_-a"), 3}, {}};
    evidence.settings["net.netfilter.nf_conntrack_count"] = {58982, {file("sysctl_-a"), 2}, {}};
    CHECK(names(evidence).empty());
    evidence.settings["net.netfilter.nf_conntrack_count"].value = 58983;
    CHECK(names(evidence) == Names{"conntrack-full"});
    evidence = {};
    evidence.logs["nf_conntrack: table full"] = {23, {file("dmesg"), 1009}, "[ 7.1] nf_conntrack: table full"};
    const auto found = findings_of(rules(), evidence, nullptr);
    REQUIRE(found.size() == 1);
    CHECK(found[0].rule->name == "conntrack-full");
    CHECK(found[0].seen[0].value == 23);
    CHECK(found[0].seen[0].place.line == 1009);
}

TEST_CASE("of two archives counts what rose, and a host that was booted between has risen by nothing known") {
    const auto before = counted({{"TcpExt.ListenOverflows", 101}, {"softnet.dropped", 7}, {"qdisc.dropped", 1000}});
    const auto after = counted(
        {{"TcpExt.ListenOverflows", 113}, {"softnet.dropped", 7}, {"qdisc.dropped", 3}, {"Udp.RcvbufErrors", 5}});
    const auto found = findings_of(rules(), after, &before);
    REQUIRE(found.size() == 1);
    CHECK(found[0].rule->name == "listen-overflow");
    CHECK(found[0].sum == 12);
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
    CHECK(refusal(begin + "severity = 'lost'\nlogs = ['x']\nlog = 1\n").find("log") != std::string::npos);
    CHECK(refusal(begin + "severity = 'lost'\nlogs = ['x']\n").empty());
}
