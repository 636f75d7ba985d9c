// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>

#include "analyze/results.h"
#include "analyzer_run.h"
#include "table/texts.h"

using namespace analyzer_run;
namespace table = stapgen::table;

namespace {

const std::string ledger_header =
    "stapgen\t4\tlosses\tdrop\tlocation:address\treason:reason\tstep:text,key\tcount:count\n"
    "fields\tledger\tentry:text,key\tof:text,key\tpackets:count\n" +
    std::string(ready);
std::string entry(std::string_view name, std::string_view of, int packets) {
    return fmt::format("ledger\t{}\t{}\t{}\n", name, of, packets);
}
std::string drop(std::string_view step, int packets) {
    return fmt::format("drop\tffffffff9a000001\t7\t{}\t{}\n", step, packets);
}

using Ledger = std::map<std::pair<std::string, std::string>, std::int64_t>;

std::string of_text(const table::Group& group) {
    const auto* field = table::find_field(group, "of");
    return field == nullptr ? "" : table::group_text(*field);
}
Ledger ledger_of(const Measured& measured) {
    const auto results = results_of(measured);
    Ledger ledger;
    for (const auto& row : results.of<stapgen::rows::Ledger>())
        ledger[{row.entry, of_text(row.group)}] = row.packets;
    return ledger;
}

}  // namespace

TEST_CASE("a ledger says what was delivered, and what of the received packets nothing explains") {
    const analyzer_run::Run run(ledger_header + entry("received", "eth0", 1009) + entry("reached", "tcp", 503) +
                                    entry("reached", "udp", 211) + entry("listen-queue", "syn", 3) +
                                    entry("passed-on", "veth", 101) + entry("under-way", "qdisc", 5) + drop("tcp", 13) +
                                    drop("udp", 11) + drop("way in", 107) + drop("way out", 7),
                                {.group_by = {"step"}});
    const auto measured = run.analyzer->measured();
    const auto ledger = ledger_of(measured);
    CHECK(ledger.at({"delivered", "tcp"}) == 503 - 13 - 3);
    CHECK(ledger.at({"delivered", "udp"}) == 200);
    CHECK(ledger.at({"dropped", "way in"}) == 107);
    CHECK(ledger.at({"listen-queue", "syn"}) == 3);
    CHECK(ledger.at({"unexplained", ""}) == 1009 - 503 - 211 - 101 - 5 - 107 - 7);
    // Entries are no counts of a table of their own.
    CHECK_FALSE(measured.has<stapgen::rows::OfInterval<stapgen::rows::Count>>());
    CHECK(results_of(measured).sentences.ledger.front() ==
          "1,009 packets received and followed: 687 delivered, 101 passed on, 141 lost, 75 unexplained");
}

TEST_CASE("a card is held against what its driver handed over") {
    const analyzer_run::Run run(ledger_header + entry("received", "eth0", 2) + entry("reached", "udp", 3) +
                                    entry("card", "eth0", 213) + entry("card-missed", "eth0", 7) +
                                    entry("card-handed-over", "eth0", 2) + entry("card", "lro0", 3) +
                                    entry("card-handed-over", "lro0", 11),
                                {.group_by = {"step"}});
    const auto measured = run.analyzer->measured();
    const auto ledger = ledger_of(measured);
    CHECK(ledger.at({"unexplained-before", "eth0"}) == 211);
    CHECK(ledger.at({"unexplained-before", "lro0"}) == -8);
    CHECK(ledger.at({"card-missed", "eth0"}) == 7);
    CHECK(ledger.at({"unexplained", ""}) == -1);
    const auto sentences = results_of(measured).sentences.ledger;
    REQUIRE(sentences.size() == 4);
    CHECK(sentences[1].starts_with("211 packets of eth0 never left its driver"));
    CHECK(sentences[2].starts_with("lro0 counts fewer packets than it hands over"));
    CHECK(sentences[3].starts_with("loopback and sent packets are not counted"));
}

TEST_CASE("a remainder below zero is an error of the ledger's, and what left a queue that was there before is none") {
    const analyzer_run::Run wrong(ledger_header + entry("received", "eth0", 11) + entry("reached", "udp", 13),
                                  {.group_by = {"step"}});
    const auto measured = wrong.analyzer->measured();
    CHECK(ledger_of(measured).at({"unexplained", ""}) == -2);
    CHECK(ledger_of(measured).at({"miscounted", ""}) == 2);
    CHECK(results_of(measured).sentences.warnings.back().starts_with("the ledger is wrong: 2 packets"));
    const analyzer_run::Run before(ledger_header + entry("received", "eth0", 11) + entry("passed-on", "veth", 13) +
                                       entry("under-way-before", "qdisc", 2),
                                   {.group_by = {"step"}});
    const auto ledger = ledger_of(before.analyzer->measured());
    CHECK(ledger.at({"unexplained", ""}) == 0);
    CHECK_FALSE(ledger.contains({"miscounted", ""}));
}

TEST_CASE("a benign drop is never lost, whatever had reached its protocol") {
    const analyzer_run::Run run(
        ledger_header + entry("received", "eth0", 7) + entry("reached", "icmp", 7) + drop("icmp", 5) + drop("tcp", 3),
        {.group_by = {"step"}});
    auto measured = run.analyzer->measured();
    for (auto& drop : measured.of<stapgen::rows::OfInterval<stapgen::rows::Drop>>()) {
        drop.place = {.symbol = "sk_stream_kill_queues"};
        drop.reason = {7, "QUEUE_PURGE"};
    }
    const auto ledger = ledger_of(measured);
    CHECK(ledger.at({"delivered", "icmp"}) == 7);
    CHECK(ledger.at({"unexplained", ""}) == 0);
}

TEST_CASE("a ledger of intervals and of several hosts is their sum") {
    analyzer_run::Run run(ledger_header, {.group_by = {"step"}, .keep_intervals = true});
    run.feed(entry("received", "eth0", 5) + entry("reached", "udp", 4) +
             "tick\t1795180005000000000\tseen=0\treported=0\n");
    CHECK(ledger_of(run.analyzer->take_interval().value()).at({"unexplained", ""}) == 1);
    run.feed(entry("received", "eth0", 7) + entry("reached", "udp", 8) +
             "end\t1795180007000000000\tseen=0\treported=0\n");
    const auto whole = run.analyzer->measured();
    CHECK(ledger_of(whole).at({"unexplained", ""}) == 0);
    CHECK(ledger_of(whole).at({"received", "eth0"}) == 12);
}

TEST_CASE("a ledger does not depend on what drops are grouped by") {
    for (const auto& by : {std::vector<std::string>{}, std::vector<std::string>{"step"}}) {
        const analyzer_run::Run run(ledger_header + entry("received", "eth0", 7) + entry("reached", "udp", 4) +
                                        drop("udp", 3) + drop("way in", 2),
                                    {.group_by = by});
        const auto ledger = ledger_of(run.analyzer->measured());
        CHECK(ledger.at({"delivered", "udp"}) == 1);
        CHECK(ledger.at({"unexplained", ""}) == 1);
    }
}
