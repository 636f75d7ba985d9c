// SPDX-License-Identifier: GPL-2.0-or-later
#include "when/watcher.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/text.h"
#include "decode/record_parser.h"

using namespace stapgen;

namespace {

constexpr std::int64_t second = 1'000'000'000;

/// What a watcher says of lines; a tick's number is in seconds.
class Watched {
  public:
    explicit Watched(std::vector<std::string> conditions) : watcher_(parsed(conditions)) {}
    std::vector<when::Met> line(const std::string& text) { return watcher_.add(parser_.feed(text)); }
    /// A report of so many values, all the same, and a tick.
    std::vector<when::Met> interval(std::int64_t end_s, int n, int value, const std::string& counts = "seen=0") {
        if (n > 0) {
            line(fmt::format("bin\trx\ta\t{}:{}", value, n));
            line(fmt::format("sum\trx\ta\t{}\t{}\t{}\t{}", n, n * value, value, value));
        }
        return line(fmt::format("tick\t{}\t{}", end_s * second, counts));
    }
    std::vector<when::Met> of_records() { return watcher_.of_records(); }

  private:
    static std::vector<when::Condition> parsed(const std::vector<std::string>& texts) {
        std::vector<when::Condition> conditions;
        for (const auto& text : texts)
            conditions.push_back(when::parse_condition(text).value());
        return conditions;
    }
    decode::RecordParser parser_;
    when::Watcher watcher_;
};

constexpr auto* aggregated = "stapgen\t5\tmine,aggregated\trx\ttime:time\ta:stage";

}  // namespace

TEST_CASE("a maximum holds in the interval that has it, and is new once") {
    Watched watched({"a max > 100ns over 1s"});
    watched.line(aggregated);
    CHECK(watched.interval(1, 7, 100).empty());
    const auto met = watched.interval(2, 1, 101);
    REQUIRE(met.size() == 1);
    CHECK(met[0].value == 101);
    CHECK(met[0].epoch_ns == 2 * second);
    CHECK(met[0].anew);
    CHECK_FALSE(watched.interval(3, 1, 107).at(0).anew);
    CHECK(watched.interval(4, 0, 0).empty());
    CHECK(watched.interval(5, 1, 103).at(0).anew);
}

TEST_CASE("a percentile is of all records of the window, and of none where these are too few") {
    Watched watched({"a p50 > 100ns over 3s", "a p99 > 1ns over 1s"});
    watched.line(aggregated);
    CHECK(watched.interval(1, 101, 11).empty());
    CHECK(watched.interval(2, 53, 211).empty());
    // 101 of 11 ns, then 53 + 53 of 211 ns.
    CHECK(watched.interval(3, 53, 211).at(0).value == 211);
    // The first one has left the window.
    CHECK(watched.interval(4, 53, 11).at(0).value == 211);
    CHECK(watched.interval(5, 53, 11).empty());
    // 368 values are needed for p99.
    CHECK(watched.interval(6, 367, 17).empty());
    const auto met = watched.interval(7, 368, 17);
    REQUIRE(met.size() == 1);
    CHECK(met[0].condition == 1);
}

TEST_CASE("a count rises from what it was, causes add up, and a count that is read ahead rises once") {
    Watched watched({"lost rise > 6 over 1s", "lost.evicted rise > 0 over 2s"});
    watched.line(aggregated);
    CHECK(watched.interval(1, 0, 0, "seen=5\tlost.other=6").empty());
    CHECK(watched.interval(2, 0, 0, "seen=5\tlost.other=11\tlost.evicted=2").size() == 2);
    const auto met = watched.interval(3, 0, 0, "seen=5\tlost.other=10\tlost.evicted=2\tlosten=1000");
    REQUIRE(met.size() == 1);
    CHECK(met[0].condition == 1);
    CHECK(met[0].value == 2);
    CHECK(watched.interval(4, 0, 0, "seen=5\tlost.other=11\tlost.evicted=2").empty());
    CHECK(watched.interval(5, 0, 0, "seen=5\tlost.other=18\tlost.evicted=2").at(0).value == 7);
}

TEST_CASE("records that are counts rise, all of a kind or those of a text") {
    Watched watched({"failure rise > 4 over 1s", "failure.refused rise > 1 over 1s"});
    watched.line(aggregated);
    watched.line("fields\tfailure\tresult:text,key\tfailures:count");
    watched.line("failure\ttimed-out\t3");
    watched.line("failure\trefused\t2");
    const auto met = watched.interval(1, 0, 0);
    REQUIRE(met.size() == 2);
    CHECK(met[0].value == 5);
    CHECK(met[1].value == 2);
    CHECK(watched.interval(2, 0, 0).empty());
}

TEST_CASE("a clock that is set back or forward makes no window longer") {
    Watched watched({"a max > 100ns over 3s"});
    watched.line(aggregated);
    CHECK(watched.interval(5001, 7, 101).size() == 1);
    CHECK(watched.interval(1002, 7, 11).empty());
    CHECK(watched.interval(1003, 7, 101).size() == 1);
    CHECK(watched.interval(9007, 7, 11).empty());
}

TEST_CASE("windows of many short intervals stay small and right") {
    Watched watched({"a max > 100ns over 10s"});
    watched.line(aggregated);
    for (int i = 1; i <= 5003; ++i) {
        if (i == 1009) watched.line("sum\trx\ta\t1\t211\t211\t211");
        const auto met = watched.line(fmt::format("tick\t{}\tseen=0", i * 10'000'000LL));
        CAPTURE(i);
        // 10 s are a thousand intervals.
        if (i < 1009 || i > 2009 + 20) CHECK(met.empty());
        if (i >= 1009 && i < 2009 - 150) CHECK(met.size() == 1);
    }
}

TEST_CASE("single records in any order are put into intervals by their time") {
    Watched watched({"a max > 100ns over 1s", "a p50 > 100ns over 2s"});
    watched.line("stapgen\t5\tmine\trx\ttime:time\ta:stage");
    watched.line(fmt::format("ready\t{}\t{}", 1000 * second, 0));
    CHECK(watched.line(fmt::format("rx\t{}\t211", 7 * second + 1)).empty());
    watched.line(fmt::format("rx\t{}\t17", 3 * second));
    watched.line(fmt::format("rx\t{}\t-", 5 * second));
    watched.line(fmt::format("rx\t{}\t103", 8 * second));
    watched.line(fmt::format("rx\t{}\t107", 11 * second));
    const auto met = watched.of_records();
    REQUIRE(met.size() == 3);
    CHECK(met[0].epoch_ns == 1008 * second);
    CHECK(met[0].value == 211);
    CHECK(met[0].anew);
    CHECK_FALSE(met[1].anew);
    CHECK(met[2].epoch_ns == 1012 * second);
    CHECK(met[2].anew);
}

TEST_CASE("records that come as they happen count in the interval that they come in") {
    decode::RecordParser parser;
    when::Watcher watcher({when::parse_condition("a max > 100ns over 1s").value()}, true);
    const auto add = [&](const std::string& text) { return watcher.add(parser.feed(text)); };
    add("stapgen\t5\tmine\trx\ttime:time\ta:stage");
    add(fmt::format("rx\t{}\t211", 3 * second));
    CHECK(add(fmt::format("tick\t{}\tseen=1", 1000 * second)).at(0).value == 211);
    add(fmt::format("rx\t{}\t17", 3 * second));
    CHECK(add(fmt::format("tick\t{}\tseen=2", 1001 * second)).empty());
    CHECK(watcher.of_records().empty());
}

TEST_CASE("drops of a reason rise by its name or its number") {
    decode::RecordParser parser;
    when::Watcher watcher({when::parse_condition("drop.NO_SOCKET rise > 4 over 1s").value(),
                           when::parse_condition("drop.3 rise > 4 over 1s").value(),
                           when::parse_condition("drop rise > 12 over 1s").value()},
                          true);
    const auto add = [&](const std::string& text) { return watcher.add(parser.feed(text)); };
    watcher.name_reasons({{3, "NO_SOCKET"}, {5, "TCP_CSUM"}});
    add("stapgen\t5\tdropwatch\tdrop\tlocation:address\treason:reason\tcount:count");
    add(fmt::format("ready\t{}\t{}", 1000 * second, 0));
    CHECK_FALSE(watcher.refusal());
    add("drop\tff\t5\t7");
    add("drop\tff\t3\t5");
    const auto met = add(fmt::format("tick\t{}\tseen=12", 1001 * second));
    REQUIRE(met.size() == 2);
    CHECK(met[0].value == 5);
    CHECK(met[1].value == 5);
    CHECK(add(fmt::format("tick\t{}\tseen=12", 1002 * second)).empty());
}

TEST_CASE("a condition that these records cannot have is refused when all kinds of them are known") {
    decode::RecordParser parser;
    when::Watcher watcher(
        {when::parse_condition("failure rise > 4").value(), when::parse_condition("drop.NO_SOKET rise > 0").value()});
    watcher.name_reasons({{3, "NO_SOCKET"}});
    watcher.add(parser.feed("stapgen\t5\tdropwatch\tdrop\tlocation:address\treason:reason\tcount:count"));
    watcher.add(parser.feed("fields\tfailure\tresult:text,key\tfailures:count"));
    CHECK_FALSE(watcher.refusal());
    watcher.add(parser.feed(fmt::format("ready\t{}\t{}", 1000 * second, 0)));
    REQUIRE(watcher.refusal());
    CHECK(watcher.refusal()->what ==
          "--when 'drop.NO_SOKET rise > 0 over 1s': this kernel has no drop reason NO_SOKET");
    CHECK(watcher.refusal()->hint == "did you mean 'NO_SOCKET'?");
}

TEST_CASE("times at the ends of what a number can hold do no harm") {
    Watched watched({"a max > 100ns over 10m", "a rise > 0"});
    watched.line(aggregated);
    CHECK(watched.line("tick\t9223372036854775807\tseen=1").empty());
    CHECK(watched.line("tick\t0\ta=9223372036854775807\ta.b=9223372036854775807").size() == 1);
    Watched records({"a max > 100ns over 10m"});
    records.line("stapgen\t5\tmine\trx\ttime:time\ta:stage");
    records.line("ready\t9223372036854775807\t0");
    records.line("rx\t9223372036854775807\t211");
    CHECK(records.of_records().size() == 1);
}
