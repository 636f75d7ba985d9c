// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/record_parser.h"
#include "schema/bins.h"

using namespace stapgen::decode;

namespace {

constexpr std::string_view net_header =
    "stapgen\t4\tnet-latency\tnet\ttime:time\tway:text\tdrv-ip:stage\ttotal:stage\tip-app:stage\tevents:value";

struct NetParser : RecordParser {
    NetParser() { REQUIRE(std::holds_alternative<HeaderLine>(feed(net_header))); }
};

std::optional<Flaw> flaw_of(std::string_view line) {
    NetParser parser;
    const auto parsed = parser.feed(line);
    const auto* unrecognised = std::get_if<Unrecognised>(&parsed);
    return unrecognised != nullptr ? std::optional(unrecognised->flaw) : std::nullopt;
}

}  // namespace

TEST_CASE("a line of bins says how often a field fell into each") {
    NetParser parser;
    const auto parsed = parser.feed("bin\tnet\tip-app\t0:17\t8703:9007199254740993\t511:0");
    const auto& line = std::get<BinsLine>(parsed);
    CHECK(line.schema == &parser.header()->schemas[0]);
    CHECK(line.field == 4);
    REQUIRE(line.bins.size() == 3);
    CHECK(line.bins[0].index == 0);
    CHECK(line.bins[0].count == 17);
    CHECK(line.bins[1].index == stapgen::schema::bins::count - 1);
    CHECK(line.bins[1].count == 9007199254740993);
    CHECK(line.bins[2].index == 511);
    CHECK(line.bins[2].count == 0);
    CHECK(std::get<BinsLine>(parser.feed("bin\tnet\tevents\t7:1\r")).bins.size() == 1);
}

TEST_CASE("bins that make no sense are not read") {
    CHECK(flaw_of("bin\tnet\tip-app") == Flaw::field_count);
    CHECK(flaw_of("bin\tnet\tip-app\t") == Flaw::field_count);
    CHECK(flaw_of("bin\tnet\tip-app\t8704:1") == Flaw::bad_number);
    CHECK(flaw_of("bin\tnet\tip-app\t-1:1") == Flaw::bad_number);
    CHECK(flaw_of("bin\tnet\tip-app\t7:-1") == Flaw::bad_number);
    CHECK(flaw_of("bin\tnet\tip-app\t7") == Flaw::bad_number);
    CHECK(flaw_of("bin\tnet\tip-app\t7:") == Flaw::bad_number);
    CHECK(flaw_of("bin\tnet\tip-app\t7:1\t") == Flaw::bad_number);
    CHECK(flaw_of("bin\tnet\tip-app\t7:1 8:2") == Flaw::bad_number);
    CHECK(flaw_of("bin\tnet\tip-app\t7:9223372036854775808") == Flaw::bad_number);
    CHECK(flaw_of("bin\tnet\ttime\t7:1") == Flaw::unknown_tag);
    CHECK(flaw_of("bin\tnet\tip-udp\t7:1") == Flaw::unknown_tag);
    CHECK(flaw_of("bin\trx\tip-app\t7:1") == Flaw::unknown_tag);
    CHECK(flaw_of("bin\tnet") == Flaw::unknown_tag);
    CHECK(flaw_of("bin\t") == Flaw::unknown_tag);
    CHECK(flaw_of("bin") == Flaw::unknown_tag);
}

TEST_CASE("a line of sums has n numbers from the least to the largest") {
    NetParser parser;
    const auto parsed = parser.feed("sum\tnet\tevents\t3\t-4\t-7\t2");
    const auto& line = std::get<SumLine>(parsed);
    CHECK(line.field == 5);
    CHECK(line.n == 3);
    CHECK(line.sum == -4);
    CHECK(line.min == -7);
    CHECK(line.max == 2);
}

TEST_CASE("sums that no numbers have are not read") {
    CHECK(flaw_of("sum\tnet\tevents\t3\t-4\t-7") == Flaw::field_count);
    CHECK(flaw_of("sum\tnet\tevents\t3\t-4\t-7\t2\t1") == Flaw::field_count);
    CHECK(flaw_of("sum\tnet\tevents\t3\t-4\t-7\t2\t") == Flaw::field_count);
    CHECK(flaw_of("sum\tnet\tevents\t0\t0\t0\t0") == Flaw::bad_number);
    CHECK(flaw_of("sum\tnet\tevents\t3\t10\t1\t3") == Flaw::bad_number);
    CHECK(flaw_of("sum\tnet\tevents\t3\t2\t1\t3") == Flaw::bad_number);
    CHECK(flaw_of("sum\tnet\tevents\t2\t5\t4\t1") == Flaw::bad_number);
    CHECK(flaw_of("sum\tnet\tip-app\t1\t-5\t-5\t-5") == Flaw::bad_number);
    CHECK(flaw_of("sum\tnet\tip-app\t1\t5\t5\t") == Flaw::field_count);
    CHECK(flaw_of("sum\tnet\tip-app\t1\tx\t5\t5") == Flaw::bad_number);
    CHECK(flaw_of("sum\tnet\tip-app\t9223372036854775807\t9223372036854775807\t0\t9223372036854775807") ==
          std::nullopt);
}

TEST_CASE("a split has a sum for each stage but the total") {
    NetParser parser;
    const auto parsed = parser.feed("split\tnet\trx\t1887\t17\t1009\t0");
    const auto& line = std::get<SplitLine>(parsed);
    CHECK(line.direction == "rx");
    CHECK(line.index == stapgen::schema::bins::split_count - 1);
    CHECK(line.n == 17);
    CHECK(std::vector(line.sums.begin(), line.sums.end()) == std::vector<std::int64_t>{1009, 0});

    RecordParser without_way;
    without_way.feed("stapgen\t4\trx-latency\trx\tdrv-ip:stage");
    CHECK(std::get<SplitLine>(without_way.feed("split\trx\t-\t3\t17\t51")).direction.empty());
    CHECK(std::get<Unrecognised>(without_way.feed("split\trx\trx\t3\t17\t51")).flaw == Flaw::bad_text);
}

TEST_CASE("splits that make no sense are not read") {
    CHECK(flaw_of("split\tnet\trx\t1888\t17\t1009\t0") == Flaw::bad_number);
    CHECK(flaw_of("split\tnet\trx\t-1\t17\t1009\t0") == Flaw::bad_number);
    CHECK(flaw_of("split\tnet\trx\t7\t-17\t1009\t0") == Flaw::bad_number);
    CHECK(flaw_of("split\tnet\trx\t7\t17\t1009\t-1") == Flaw::bad_number);
    CHECK(flaw_of("split\tnet\trx\t7\t17\t1009") == Flaw::field_count);
    CHECK(flaw_of("split\tnet\trx\t7\t17\t1009\t0\t0") == Flaw::field_count);
    CHECK(flaw_of("split\tnet\trx\t7") == Flaw::field_count);
    CHECK(flaw_of("split\tnet\trx") == Flaw::bad_number);
    CHECK(flaw_of("split\tnet") == Flaw::field_count);
    CHECK(flaw_of("split\tnet\tr\x01x\t7\t17\t1009\t0") == Flaw::bad_text);
}

TEST_CASE("a slow line is a whole record") {
    NetParser parser;
    const auto parsed = parser.feed("slow\tnet\t1009\trx\t17\t-\t23\t-7");
    const auto& line = std::get<SlowLine>(parsed);
    CHECK(line.record.schema == &parser.header()->schemas[0]);
    REQUIRE(line.record.values.size() == 6);
    CHECK(line.record.values[0].number == 1009);
    CHECK_FALSE(line.record.values[3].seen);
    CHECK(line.record.values[5].number == -7);
    CHECK(flaw_of("slow\tnet\t1009\trx\t17\t-\t23") == Flaw::field_count);
    CHECK(flaw_of("slow\tnet\t1009\trx\t17\t-\t-23\t7") == Flaw::bad_number);
    CHECK(flaw_of("slow\trx\t1009") == Flaw::unknown_tag);
    CHECK(flaw_of("slow\tslow\tnet\t1009\trx\t17\t-\t23\t-7") == Flaw::unknown_tag);
    CHECK(flaw_of("slow") == Flaw::unknown_tag);
}

TEST_CASE("from version 4 on the header says that records are aggregated, and that nobody asked for intervals") {
    const auto header_of = [](std::string_view recipe, int version) {
        RecordParser parser;
        parser.feed("stapgen\t" + std::to_string(version) + "\t" + std::string(recipe) + "\tm\tn:stage");
        return parser.header() ? std::optional(*parser.header()) : std::nullopt;
    };
    CHECK(header_of("mine,aggregated", 4)->recipe == "mine");
    CHECK(header_of("mine,aggregated", 4)->aggregated);
    CHECK_FALSE(header_of("mine,aggregated", 4)->silent);
    CHECK(header_of("mine,aggregated,silent", 4)->aggregated);
    CHECK(header_of("mine,aggregated,silent", 4)->silent);
    CHECK_FALSE(header_of("mine", 4)->aggregated);
    for (const auto* wrong :
         {"mine,", "mine,silent", "mine,aggregated,loud", "mine,aggregated,silent,", ",aggregated", ""})
        CHECK_FALSE(header_of(wrong, 4));
    CHECK(header_of("mine,aggregated", 3)->recipe == "mine,aggregated");
    CHECK_FALSE(header_of("mine,aggregated", 3)->aggregated);
}

TEST_CASE("records of an older version may be called bin, sum, split or slow") {
    for (const std::string_view tag : {"bin", "sum", "split", "slow"}) {
        RecordParser old;
        CHECK(std::holds_alternative<HeaderLine>(old.feed("stapgen\t3\tmine\t" + std::string(tag) + "\tn:int")));
        CHECK(std::holds_alternative<Record>(old.feed(std::string(tag) + "\t17")));
        RecordParser now;
        const auto parsed = now.feed("stapgen\t4\tmine\t" + std::string(tag) + "\tn:int");
        CHECK(std::get<Unrecognised>(parsed).flaw == Flaw::bad_header);
    }
    RecordParser other;
    other.feed("stapgen\t3\tmine\tm\tn:stage");
    CHECK(std::get<Unrecognised>(other.feed("bin\tm\tn\t3:1")).flaw == Flaw::unknown_tag);
}
