// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "analyze/merge.h"
#include "analyzer_run.h"
#include "unit/rows.h"

using namespace analyzer_run;

TEST_CASE("intervals are given once each and the totals go on") {
    Run run(std::string(rx_header) + std::string(ready), {.group_by = {"pid"}, .keep_intervals = true});
    CHECK_FALSE(run.analyzer->take_interval());
    run.feed(rx(3, "a", "101") + rx(5, "b", "103"));
    CHECK_FALSE(run.analyzer->take_interval());
    run.feed("tick\t1795180005000000000\tseen=9\treported=2\tfiltered=4\tlost.evicted=3\n");
    const auto first = stapgen::summaries::summary_of(run.analyzer->take_interval().value());
    CHECK(first.stages[0].stats.n() == 2);
    CHECK(first.stages.size() == 6);
    CHECK(first.accounting.seen == 9);
    CHECK(first.start_epoch_ns == 1795180000000000000);
    CHECK(first.end_epoch_ns == 1795180005000000000);
    CHECK_FALSE(run.analyzer->take_interval());

    run.feed(rx(3, "a", "107"));
    run.feed("end\t1795180007000000000\tseen=12\treported=2\tfiltered=6\tlost.evicted=3\n");
    const auto rest = stapgen::summaries::summary_of(run.analyzer->take_interval().value());
    CHECK(rest.stages[0].stats.n() == 1);
    CHECK(rest.stages[0].stats.max() == 107);
    CHECK(rest.stages.size() == 4);
    CHECK(rest.accounting.seen == 3);
    CHECK(rest.accounting.reported == 1);
    CHECK(rest.accounting.filtered == 2);
    CHECK(rest.accounting.lost_total() == 0);
    CHECK(rest.accounting.closed);

    const auto all = run.summary();
    CHECK(all.stages[0].stats.n() == 3);
    CHECK(all.accounting.seen == 12);
    CHECK(all.intervals.size() == 2);
}

TEST_CASE("the totals are the same whether intervals are kept or not") {
    std::string text(rx_header);
    for (int i = 1; i <= 1009; ++i) {
        text += rx(i % 7, "a", fmt::format("{}", i * 37));
        if (i % 101 == 0) text += fmt::format("tick\t{}\tseen={}\treported={}\n", i * 1'000'000'000LL, i, i);
    }
    const auto with = Run(text, {.group_by = {"pid"}, .keep_intervals = true}).summary();
    const auto without = Run(text, {.group_by = {"pid"}}).summary();
    REQUIRE(with.stages.size() == without.stages.size());
    REQUIRE(with.stages.size() == 16);
    for (std::size_t i = 0; i < with.stages.size(); ++i) {
        CHECK(with.stages[i].group == without.stages[i].group);
        CHECK(with.stages[i].stats.n() == without.stages[i].stats.n());
        CHECK(with.stages[i].stats.percentile(50) == without.stages[i].stats.percentile(50));
    }
}

TEST_CASE("drops belong to the interval that the next tick closes, empty intervals are kept") {
    Run run(std::string(drop_header) + std::string(ready) +
            "drop\tffffffff9a000001\t3\t5\ndrop\tffffffff9a000002\t-1\t17\ndrop\tffffffff9a000001\t3\t2\n"
            "tick\t1795180005000000000\tseen=24\treported=24\n"
            "tick\t1795180010000000000\tseen=24\treported=24\n"
            "drop\tffffffff9a000001\t3\t11\n"
            "end\t1795180012000000000\tseen=35\treported=35\n");
    const auto summary = run.summary();
    CHECK(summary.counts_drops);
    REQUIRE(summary.intervals.size() == 3);
    REQUIRE(summary.drops.size() == 3);
    CHECK(summary.drops[0].place.address == 0xffffffff9a000002);
    CHECK(summary.drops[0].count == 17);
    CHECK(summary.drops[0].reason.number == -1);
    CHECK(summary.drops[0].interval == 0);
    CHECK(summary.drops[0].time == 1795180005000000000);
    CHECK(summary.drops[1].count == 7);
    CHECK(summary.drops[2].interval == 2);
    CHECK(summary.drops[2].time == 1795180012000000000);
    CHECK(summary.accounting.reported == 35);
    CHECK(is_whole(summary));

    const auto totals = total<rows::Drop>(summary);
    REQUIRE(totals.size() == 2);
    CHECK(totals[0].place.address == 0xffffffff9a000001);
    CHECK(totals[0].count == 18);
    CHECK(totals[1].count == 17);
}

TEST_CASE("call paths are no drops of their own, and add up by reason and by their functions") {
    const std::string text = std::string(drop_header) + std::string(ready) +
                             "fields\tstack\treason:reason\tframes:stack\tcount:count\n"
                             "drop\tffffffff9a000001\t3\t5\ndrop\tffffffff9a000002\t4\t9\n"
                             "stack\t3\tffffffff9a000001,ffffffff9a000010\t3\nstack\t3\tffffffff9a000005\t2\n"
                             "stack\t4\tffffffff9a000002\t9\n"
                             "tick\t1795180005000000000\tseen=14\treported=14\n"
                             "drop\tffffffff9a000001\t3\t1\nstack\t3\tffffffff9a000001,ffffffff9a000010\t1\n"
                             "end\t1795180012000000000\tseen=15\treported=15\n";
    auto summary = Run(text).summary();
    CHECK(is_whole(summary));
    CHECK(summary.drops.size() == 3);
    CHECK(summary.tallies.empty());
    REQUIRE(summary.stacks.size() == 4);
    CHECK(summary.stacks[0].count == 9);
    CHECK(summary.stacks[3].interval == 1);
    CHECK(summary.stacks[3].frames->size() == 2);
    CHECK(summary.stacks[3].frames->at(1).address == 0xffffffff9a000010);

    auto totals = total<rows::Stack>(summary);
    REQUIRE(totals.size() == 3);
    CHECK(totals[0].reason.number == 4);
    CHECK(totals[1].count == 4);
    CHECK(totals[2].count == 2);
    // Two places of one function.
    for_each_place(summary, [](auto& place) {
        if (place.address == 0xffffffff9a000010) return;
        place.symbol = "f";
        place.offset = *place.address & 0xf;
    });
    totals = total<rows::Stack>(summary);
    REQUIRE(totals.size() == 3);
    CHECK(totals[1].frames->at(0).symbol == "f");
    CHECK(totals[1].frames->at(1).address == 0xffffffff9a000010);

    // Two kernels: the functions' names remain.
    auto other = summary;
    summary.kernels = {"6.1 a"};
    other.kernels = {"6.12 b"};
    REQUIRE(merge(summary, other));
    CHECK(summary.stacks.size() == 8);
    CHECK_FALSE(summary.stacks[0].frames->at(0).address);
    totals = total<rows::Stack>(summary);
    REQUIRE(totals.size() == 3);
    CHECK(totals[0].count == 18);
    CHECK(totals[1].count == 8);
}

TEST_CASE("an end line a moment after the last tick closes no interval of its own") {
    const std::string text = std::string(drop_header) + std::string(ready) +
                             "drop\tffffffff9a000001\t3\t5\ntick\t1795180005000000000\tseen=5\treported=5\n";
    CHECK(Run(text + "end\t1795180005001000000\tseen=5\treported=5\n").summary().intervals.size() == 1);
    CHECK(Run(text + "drop\tffffffff9a000001\t3\t1\nend\t1795180005001000000\tseen=6\treported=6\n")
              .summary()
              .intervals.size() == 2);
    CHECK(Run(text + "end\t1795180009000000000\tseen=5\treported=5\n").summary().intervals.size() == 2);
}

TEST_CASE("drops after the last tick of a cut recording are there, without a time") {
    const auto summary = Run(std::string(drop_header) + "drop\tffffffff9a000001\t3\t5\n").summary();
    REQUIRE(summary.drops.size() == 1);
    CHECK_FALSE(summary.drops[0].time);
    REQUIRE(summary.intervals.size() == 1);
    CHECK_FALSE(summary.intervals[0].end);
}
