// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analyze/merge.h"
#include "kinds/drops/drops.h"
#include "summary_of.h"

using namespace stapgen::analyze;
using namespace stapgen::summaries;

namespace {

constexpr const char* count_header = "stapgen\t3\tpage-alloc\talloc\tcomm:text,key\tpid:int,key\tpages:count\n";

}  // namespace

TEST_CASE("records with a count and no address are summed by their keys, in each interval and in all") {
    const auto summary = summary_of(std::string(count_header) +
                                        "ready\t1000000000\t5\n"
                                        "alloc\tcc1\t17\t101\nalloc\tld\t19\t7\nalloc\tcc1\t17\t2\n"
                                        "tick\t2000000000\tseen=110\treported=110\n"
                                        "alloc\tld\t19\t211\nalloc\tcc1\t23\t3\n"
                                        "end\t3000000000\tseen=324\treported=324\n",
                                    {"comm", "pid"});
    CHECK(summary.counted == "pages");
    CHECK_FALSE(summary.counts_drops);
    CHECK(summary.accounting.reported == 324);
    CHECK(summary.accounting.unaccounted() == 0);
    REQUIRE(summary.tallies.size() == 4);
    CHECK(summary.tallies[0].group == Group{{"comm", "cc1"}, {"pid", 17}});
    CHECK(summary.tallies[0].count == 103);
    CHECK(summary.tallies[0].time == 2000000000);
    CHECK(summary.tallies[2].count == 211);
    CHECK(summary.tallies[2].interval == 1);
    const auto totals = total<rows::Count>(summary);
    REQUIRE(totals.size() == 3);
    CHECK(totals[0].group == Group{{"comm", "ld"}, {"pid", 19}});
    CHECK(totals[0].count == 218);
    CHECK(sum_of(totals) == 324);
}

TEST_CASE("counts are summed by what is asked for, and as one sum where nothing is") {
    const std::string text = std::string(count_header) + "alloc\tcc1\t17\t101\nalloc\tcc1\t23\t3\nalloc\tld\t19\t7\n";
    const auto by_name = summary_of(text, {"comm"});
    REQUIRE(by_name.tallies.size() == 2);
    CHECK(by_name.tallies[0].count == 104);
    const auto whole = summary_of(text, {});
    REQUIRE(whole.tallies.size() == 1);
    CHECK(whole.tallies[0].group.empty());
    CHECK(whole.tallies[0].count == 111);
}

TEST_CASE("two runs' counts stand one behind the other") {
    const std::string text = std::string(count_header) + "alloc\tcc1\t17\t101\nend\t5\tseen=101\treported=101\n";
    auto both = summary_of(text, {"comm"});
    CHECK(merge(both, summary_of(text, {"comm"})));
    REQUIRE(both.tallies.size() == 2);
    CHECK(both.tallies[1].interval == 1);
    CHECK(total<rows::Count>(both).at(0).count == 202);
}

TEST_CASE("of more groups than can be told apart the rest is one, and nothing is missing") {
    std::string text = count_header;
    for (std::size_t i = 0; i < stapgen::kinds::CountedRows<stapgen::rows::Count>::max_rows + 1009; ++i)
        text += fmt::format("alloc\tx\t{}\t3\n", i);
    const auto summary = summary_of(text, {"pid"});
    CHECK(summary.tallies.size() == stapgen::kinds::CountedRows<stapgen::rows::Count>::max_rows + 1);
    CHECK(summary.tallies.front().group == Group{{"other", true}});
    CHECK(summary.tallies.front().count == 3 * 1009);
}

TEST_CASE("counters of bytes follow those of packets, and elsewhere a name is only a name") {
    const std::string lines =
        "ready\t1000000000\t5\n"
        "counter\tlink.rx_bytes\tlo\t9000\ncounter\tIpExt.InOctets\t-\t9000\ncounter\tIp.InReceives\t-\t7\n"
        "end\t2000000000\n";
    auto summary =
        summary_of("stapgen\t3\tsoftnet\tcounter\tname:text,key\tof:text,key\trise:count\n" + lines, {"name", "of"});
    CHECK(total<rows::Count>(summary).back().count == 7);
    summary.mixed_units = true;
    const auto totals = total<rows::Count>(summary);
    REQUIRE(totals.size() == 3);
    CHECK(totals.front().count == 7);
    summary.tallies.front().loss = true;
    CHECK(total<rows::Count>(summary).front().count == 9000);
}
