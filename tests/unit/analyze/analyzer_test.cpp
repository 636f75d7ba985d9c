// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <limits>

#include "analyze/merge.h"
#include "analyzer_run.h"
#include "unit/rows.h"

using namespace analyzer_run;

TEST_CASE("values have a series beside that of the stages") {
    const auto summary =
        Run("stapgen\t3\ttcp-probe\ttcp\ttime:time\tcwnd:value\tsrtt:stage\tretransmits:value\n"
            "tcp\t1000000000\t10\t30000000\t-\ntcp\t1000000007\t12\t-\t1\ntcp\t3000000000\t5\t31000000\t2\n")
            .summary();
    const auto series = summary.series.by_second();
    const auto& blocks = series.blocks();
    REQUIRE(blocks.size() == 3);
    REQUIRE(blocks[0].stages.size() == 1);
    REQUIRE(blocks[0].values.size() == 2);
    CHECK(blocks[0].values[0].n() == 2);
    CHECK(blocks[0].values[0].max() == 12);
    CHECK(blocks[0].values[1].n() == 1);
    CHECK(blocks[0].stages[0].n() == 1);
    CHECK(blocks[1].values[0].n() == 0);
    CHECK(blocks[2].values[0].max() == 5);
    CHECK(blocks[2].stages[0].max() == 31000000);
}

TEST_CASE("a recording without records has every stage with n 0") {
    Run run(std::string(rx_header) + std::string(ready) + "end\t1795180007000000000\tseen=0\n");
    const auto summary = run.summary();
    CHECK(summary.recipe == "rx-latency");
    REQUIRE(summary.stages.size() == 2);
    CHECK(summary.stages[0].name == "drv-ip");
    CHECK(summary.stages[1].name == "ip-tcp");
    CHECK(summary.stages[0].stats.n() == 0);
    CHECK(summary.values.empty());
    CHECK_FALSE(summary.counts_drops);
    CHECK(summary.accounting.closed);
    CHECK(is_whole(summary));
    CHECK(summary.start_epoch_ns == 1795180000000000000);
    CHECK(summary.end_epoch_ns == 1795180007000000000);
}

TEST_CASE("a stage that was not seen is no value of it") {
    Run run(std::string(rx_header) + rx(1, "a", "1009", "-") + rx(1, "a", "2003", "37") + rx(1, "a", "0", "-"));
    const auto summary = run.summary();
    CHECK(summary.stages[0].stats.n() == 3);
    CHECK(summary.stages[0].stats.min() == 0);
    CHECK(summary.stages[0].stats.max() == 2003);
    CHECK(summary.stages[1].stats.n() == 1);
    CHECK(summary.stages[1].stats.max() == 37);
}

TEST_CASE("values without a time unit are kept apart from stages") {
    Run run("stapgen\t1\tsock-latency\tsock\tread:stage\tepoll_events:value\nsock\t101\t3\nsock\t103\t-\n");
    const auto summary = run.summary();
    REQUIRE(summary.stages.size() == 1);
    REQUIRE(summary.values.size() == 1);
    CHECK(summary.values[0].name == "epoll_events");
    CHECK(summary.values[0].stats.n() == 1);
    CHECK(summary.values[0].stats.max() == 3);
}

TEST_CASE("the accounting adds up and names its causes") {
    std::string text(rx_header);
    for (int i = 0; i < 1009; ++i)
        text += rx(1, "a", "101");
    text +=
        "end\t1795180007000000000\tseen=1020\treported=1009\tfiltered=7\tincomplete.no-read=3\tlost.evicted=1"
        "\trestarts=5\n";
    const auto accounting = Run(text).summary().accounting;
    CHECK(accounting.seen == 1020);
    CHECK(accounting.reported == 1009);
    CHECK(accounting.filtered == 7);
    CHECK(count_of(accounting.incomplete, "no-read") == 3);
    CHECK(accounting.incomplete_total() == 3);
    CHECK(count_of(accounting.lost, "evicted") == 1);
    CHECK(accounting.lost_total() == 1);
    CHECK(accounting.unaccounted() == 0);
    CHECK(count_of(accounting.other, "restarts") == 5);
    CHECK(accounting.closed);
}

TEST_CASE("records that the script reported and that did not arrive are lost in transport") {
    std::string text(rx_header);
    for (int i = 0; i < 1009; ++i)
        text += rx(1, "a", "101");
    text += "end\t1795180007000000000\tseen=1013\treported=1013\n";
    const auto summary = Run(text).summary();
    CHECK(summary.accounting.reported == 1009);
    CHECK(count_of(summary.accounting.lost, "transport") == 4);
    CHECK(summary.accounting.unaccounted() == 0);
    CHECK_FALSE(is_whole(summary));
}

TEST_CASE("accounting that does not add up is reported, in either direction") {
    const auto missing = Run(std::string(rx_header) + rx(1, "a", "101") + "end\t5\tseen=14\treported=1\n").summary();
    CHECK(missing.accounting.unaccounted() == 13);
    CHECK_FALSE(is_whole(missing));
    const auto too_many =
        Run(std::string(rx_header) + rx(1, "a", "101") + rx(1, "a", "101") + "end\t5\tseen=1\treported=1\n").summary();
    CHECK(too_many.accounting.unaccounted() == -1);
    CHECK_FALSE(is_whole(too_many));
}

TEST_CASE("without an end line the last tick counts, and the records after it") {
    std::string text = std::string(rx_header) + std::string(ready) + rx(1, "a", "101") +
                       "tick\t1795180005000000000\tseen=3\treported=1\tfiltered=2\n" + rx(1, "a", "103") +
                       rx(1, "a", "107");
    const auto summary = Run(text).summary();
    CHECK_FALSE(summary.accounting.closed);
    CHECK_FALSE(is_whole(summary));
    CHECK(summary.accounting.seen == 5);
    CHECK(summary.accounting.reported == 3);
    CHECK(summary.accounting.filtered == 2);
    CHECK(summary.accounting.unaccounted() == 0);
    CHECK(summary.end_epoch_ns == 1795180005000000000);
}

TEST_CASE("a recording cut before its first tick ends with its last record") {
    const auto summary = Run(std::string(rx_header) + std::string(ready) + rx(1, "a", "101")).summary();
    CHECK(summary.accounting.seen == 1);
    CHECK(summary.end_epoch_ns == 1795180000000001009);
    CHECK_FALSE(is_whole(summary));
}

TEST_CASE("losses that the transport knows of make a summary not whole") {
    Summary summary = Run(std::string(rx_header) + "end\t5\tseen=0\n").summary();
    REQUIRE(is_whole(summary));
    for (auto loss : {&Transport::skipped_probes, &Transport::probe_errors, &Transport::transport_failures}) {
        Summary lossy = summary;
        lossy.transport.*loss = 1;
        CHECK_FALSE(is_whole(lossy));
    }
    summary.broke_off = "it was killed";
    CHECK_FALSE(is_whole(summary));
}

TEST_CASE("what happened to runs that are added up is not forgotten") {
    Summary whole = Run(std::string(rx_header) + "end\t5\tseen=0\n").summary();
    Summary broken = whole;
    broken.transport = {2, 3, 5, 17};
    broken.broke_off = "it was killed";
    broken.clock_set_ns = -7;
    broken.suspended_ns = 11;
    for (int i = 0; i < 2; ++i)
        REQUIRE(merge(whole, broken));
    CHECK(whole.transport.transport_failures == 10);
    CHECK(whole.transport.enough_buffer_mb == 17);
    CHECK(whole.broke_off == "it was killed");
    CHECK(whole.clock_set_ns == -7);
    CHECK(whole.suspended_ns == 22);
}

TEST_CASE("groups follow the whole, the largest first, their text unescaped") {
    std::string text(rx_header);
    for (int i = 0; i < 3; ++i)
        text += rx(19550, "fire\\tfox", "101");
    for (int i = 0; i < 5; ++i)
        text += rx(307, "nginx", "103");
    const auto summary = Run(text, {.group_by = {"pid", "comm"}}).summary();
    REQUIRE(summary.stages.size() == 6);
    CHECK(summary.stages[0].group.empty());
    CHECK(summary.stages[0].stats.n() == 8);
    CHECK(summary.stages[2].group == Group{{"pid", 307}, {"comm", "nginx"}});
    CHECK(summary.stages[2].name == "drv-ip");
    CHECK(summary.stages[2].stats.n() == 5);
    CHECK(summary.stages[3].name == "ip-tcp");
    CHECK(summary.stages[3].stats.n() == 0);
    CHECK(summary.stages[4].group == Group{{"pid", 19550}, {"comm", "fire\tfox"}});
    CHECK(summary.stages[4].stats.n() == 3);
}

TEST_CASE("groups beyond the bound go into one group, and none of their values is missing") {
    for (const bool keep_intervals : {false, true}) {
        CAPTURE(keep_intervals);
        Run run(rx_header, {.group_by = {"pid"}, .max_groups = 3, .keep_intervals = keep_intervals});
        for (int pid = 0; pid < 11; ++pid)
            run.feed(rx(pid, "a", "101"));
        run.feed("tick\t1795180005000000000\tseen=11\treported=11\n");
        for (int pid = 0; pid < 11; ++pid)
            run.feed(rx(pid, "a", "101"));
        const auto summary = run.summary();
        REQUIRE(summary.stages.size() == 2 * 5);
        CHECK(summary.stages[0].stats.n() == 22);
        std::int64_t in_groups = 0;
        for (std::size_t i = 2; i < summary.stages.size(); ++i)
            in_groups += summary.stages[i].stats.n();
        CHECK(in_groups == 22);
        CHECK(summary.stages[8].group == Group{{"other", true}});
        CHECK(summary.stages[8].stats.n() == 16);
    }
}

TEST_CASE("a field to group by must be there, and a slip of the finger is met with help") {
    RecordParser parser;
    parser.feed(rx_header.substr(0, rx_header.size() - 1));
    const auto refused = Analyzer::create(*parser.header(), {.group_by = {"com"}});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == stapgen::base::ErrorKind::bad_input);
    CHECK(refused.error().what == "the records of rx-latency have no field 'com' to group by");
    CHECK(refused.error().hint == "did you mean 'comm'?");
}

TEST_CASE("records of a kind declared later join in, but are not counted as reported") {
    const auto summary = Run(std::string(rx_header) + rx(1, "a", "101") +
                             "fields\tirq\tnr:int\tirq-drv:stage\nirq\t19\t53\nirq\t19\t59\n"
                             "end\t5\tseen=1\treported=1\n")
                             .summary();
    REQUIRE(summary.stages.size() == 3);
    CHECK(summary.stages[2].name == "irq-drv");
    CHECK(summary.stages[2].stats.n() == 2);
    CHECK(summary.accounting.reported == 1);
    CHECK(is_whole(summary));
}

TEST_CASE("counts of any size do not overflow") {
    const std::string most = "9223372036854775807";
    const auto summary = Run(std::string(drop_header) + "drop\t1\t3\t" + most + "\ndrop\t1\t3\t" + most +
                             "\ntick\t5\tseen=" + most + "\treported=0\tlost.a=" + most + "\tlost.b=" + most +
                             "\ndrop\t1\t3\t" + most + "\nend\t7\tseen=0\tlost.a=" + most + "\tfiltered=" + most + "\n")
                             .summary();
    CHECK(summary.drops[0].count == std::numeric_limits<std::int64_t>::max());
    CHECK(total<rows::Drop>(summary)[0].count == std::numeric_limits<std::int64_t>::max());
    CHECK(summary.accounting.unaccounted() == -std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("totals are the sum of the stages that were seen, and the stage of that name where there is one") {
    const Run sums(std::string(rx_header) + rx(7, "a", "1009", "2003") + rx(7, "a", "307") + rx(7, "a", "-"));
    REQUIRE(sums.summary().breakdowns.size() == 1);
    const auto breakdown = sums.summary().breakdowns.front();
    CHECK(breakdown.stages() == std::vector<std::string>{"drv-ip", "ip-tcp"});
    CHECK(breakdown.total().n() == 2);
    CHECK(breakdown.total().max() == 3012);
    CHECK(breakdown.total().min() == 307);
    const Run run("stapgen\t1\tsock-latency\tsock\ta:stage\ttotal:stage\tb:stage\nsock\t3\t1009\t5\nsock\t3\t-\t5\n");
    const auto with_total = run.summary().breakdowns.front();
    CHECK(with_total.stages() == std::vector<std::string>{"a", "b"});
    CHECK(with_total.total().max() == 1009);
    CHECK(with_total.total().min() == 8);
}

TEST_CASE("the slowest say whose they were and when") {
    const Run run(
        std::string(rx_header) + std::string(ready) + rx(7, "fire\\tfox", "1009", "2003") + rx(11, "b", "307"),
        {.group_by = {}, .slowest = 1});
    const auto slowest = run.summary().breakdowns.front().slowest();
    REQUIRE(slowest.size() == 1);
    CHECK(slowest[0].total_ns == 3012);
    CHECK(slowest[0].of == Group{{"pid", 7}, {"comm", "fire\tfox"}});
    CHECK(slowest[0].stages == std::vector<std::optional<std::int64_t>>{1009, 2003});
    CHECK(slowest[0].time_ns == 1795180000000001009);
}

TEST_CASE("each direction has a breakdown of its own") {
    const Run run("stapgen\t1\tnet\tnet\tway:text\ta:stage\tb:stage\nnet\trx\t3\t-\nnet\ttx\t-\t5\nnet\trx\t7\t-\n");
    const auto breakdowns = run.summary().breakdowns;
    REQUIRE(breakdowns.size() == 2);
    CHECK(breakdowns[0].direction() == "rx");
    CHECK(breakdowns[0].total().n() == 2);
    CHECK(breakdowns[1].total().max() == 5);
}

TEST_CASE("blocks are on the epoch's clock where the input has it, and hold all records that have a time") {
    std::string text = std::string(rx_header) + std::string(ready);
    for (int i = 0; i < 1009; ++i)
        text += fmt::format("rx\t{}\t7\ta\t{}\t-\n", 5000000000000 + std::int64_t{i} * 10'000'000, i);
    const auto series = Run(text).summary().series.by_second();
    REQUIRE(series.blocks().size() == 11);
    CHECK(series.blocks().front().start_ns == 1795180000000000000);
    std::int64_t n = 0;
    for (const auto& block : series.blocks()) {
        n += block.stages.at(0).n();
        CHECK(block.stages.at(1).n() == 0);
    }
    CHECK(n == 1009);
}

TEST_CASE("groups can be by endpoint and by its port") {
    const std::string text =
        "stapgen\t2\trx-latency\trx\tlocal:endpoint\ta:stage\nrx\t0.ffff7f000001:11211\t3\nrx\t0.1:11211\t5\nrx\t0.1:"
        "81\t7\n";
    const auto by_port = Run(text, {.group_by = {"port"}}).summary();
    REQUIRE(by_port.stages.size() == 3);
    CHECK(by_port.stages[0].stats.n() == 3);
    CHECK(by_port.stages[1].group == Group{{"port", 11211}});
    CHECK(by_port.stages[1].stats.n() == 2);
    const auto by_end = Run(text, {.group_by = {"local"}}).summary();
    REQUIRE(by_end.stages.size() == 4);
    CHECK(by_end.stages[1].group == Group{{"local", "127.0.0.1:11211"}});
}

TEST_CASE("an input that names places instead of addresses has its drops by name") {
    stapgen::decode::Header header;
    header.recipe = "dropwatch";
    using stapgen::decode::FieldType;
    header.schemas.push_back(
        {"drop", 0, {{"place", FieldType::place}, {"reason", FieldType::reason_name}, {"count", FieldType::count}}});
    auto analyzer = Analyzer::create(header).value();
    const auto add = [&](std::string_view place, std::string_view reason, std::int64_t count) {
        const std::vector<stapgen::decode::Value> values{{place}, {reason}, {"", count}};
        analyzer.add(stapgen::decode::Record{&header.schemas.front(), values});
    };
    add("tcp_v4_rcv+0x9a/0xe80", "NO_SOCKET", 17);
    add("nf_hook_slow+0x3b/0xc0 [nf_tables]", "NETFILTER_DROP", 23);
    add("tcp_v4_rcv+0x9a/0xe80", "NO_SOCKET", 2);
    const auto drops = stapgen::summaries::summary_of(analyzer.measured()).drops;
    REQUIRE(drops.size() == 2);
    CHECK(drops[0].place.module == "nf_tables");
    CHECK(drops[1].place.symbol == "tcp_v4_rcv");
    CHECK(drops[1].place.offset == 0x9a);
    CHECK(drops[1].reason.name == "NO_SOCKET");
    CHECK_FALSE(drops[1].place.address);
    CHECK(drops[1].count == 19);
}
