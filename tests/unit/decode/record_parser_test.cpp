// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/record_parser.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/limits.h"

using namespace stapgen::decode;
using namespace std::string_view_literals;
using stapgen::base::ErrorKind;

namespace {

constexpr std::string_view rx_header =
    "stapgen\t1\trx-latency\trx\ttime:time\tcpu:int\tpid:int\ttid:int\tcomm:text\tdrv-ip:stage\tip-tcp:stage"
    "\ttcp-app:stage";

struct RxParser : RecordParser {
    RxParser() { REQUIRE(std::holds_alternative<HeaderLine>(feed(rx_header))); }
};

/// The flaw of a line, nothing if it was read.
std::optional<Flaw> flaw_of(RecordParser& parser, std::string_view line) {
    const auto parsed = parser.feed(line);
    const auto* unrecognised = std::get_if<Unrecognised>(&parsed);
    return unrecognised != nullptr ? std::optional(unrecognised->flaw) : std::nullopt;
}

std::string text_of(const Record& record) {
    std::string text = record.schema->tag;
    for (const auto& value : record.values)
        text += fmt::format("|{} {} {}", value.raw, value.number, value.seen);
    return text;
}

}  // namespace

TEST_CASE("the header says recipe, tag and fields") {
    RxParser parser;
    const Header& header = *parser.header();
    CHECK(header.version == 1);
    CHECK(header.recipe == "rx-latency");
    REQUIRE(header.schemas.size() == 1);
    CHECK(header.schemas[0].tag == "rx");
    REQUIRE(header.schemas[0].fields.size() == 8);
    CHECK(header.schemas[0].fields[4].name == "comm");
    CHECK(header.schemas[0].fields[4].type == FieldType::text);
    CHECK(header.schemas[0].fields[7].name == "tcp-app");
    CHECK(header.schemas[0].fields[7].type == FieldType::stage);
}

TEST_CASE("a record gives its values, and says which stage was not seen") {
    RxParser parser;
    const auto line = parser.feed("rx\t5123456831957\t6\t309\t313\tweb server\\0411\t986\t-\t0");
    const auto& record = std::get<Record>(line);
    CHECK(record.schema == &parser.header()->schemas[0]);
    REQUIRE(record.values.size() == 8);
    CHECK(record.values[0].number == 5123456831957);
    CHECK(record.values[1].number == 6);
    CHECK(record.values[3].number == 313);
    CHECK(record.values[4].raw == "web server\\0411");
    CHECK(record.values[5].seen);
    CHECK(record.values[5].number == 986);
    CHECK_FALSE(record.values[6].seen);
    CHECK(record.values[6].number == 0);
    CHECK(record.values[7].seen);
    CHECK(record.values[7].number == 0);
}

TEST_CASE("drops have addresses of 64 bits and a reason of -1") {
    RecordParser parser;
    parser.feed("stapgen\t1\tdropwatch\tdrop\tlocation:address\treason:reason\tcount:count");
    const auto line = parser.feed("drop\tffffffff9a3c1d47\t-1\t17");
    const auto& record = std::get<Record>(line);
    CHECK(record.values[0].address() == 0xffffffff9a3c1d47);
    CHECK(record.values[1].number == -1);
    CHECK(record.values[2].number == 17);
    CHECK(flaw_of(parser, "drop\t0xffffffff9a3c1d47\t-1\t17") == Flaw::bad_number);
    CHECK(flaw_of(parser, "drop\tffffffff9a3c1d47\t-2\t17") == Flaw::bad_number);
    CHECK(flaw_of(parser, "drop\tffffffff9a3c1d47\t2\t-17") == Flaw::bad_number);
    CHECK(flaw_of(parser, "drop\t1ffffffff9a3c1d47\t2\t17") == Flaw::bad_number);
}

TEST_CASE("a value may be negative or absent, a stage only absent") {
    RecordParser parser;
    parser.feed("stapgen\t1\tmine\tm\tbytes:value\tapp:stage");
    const auto line = parser.feed("m\t-7\t-");
    CHECK(std::get<Record>(line).values[0].number == -7);
    CHECK(std::get<Record>(line).values[0].seen);
    const auto absent = parser.feed("m\t-\t3");
    CHECK_FALSE(std::get<Record>(absent).values[0].seen);
    CHECK(flaw_of(parser, "m\t3\t-7") == Flaw::bad_number);
}

TEST_CASE("ready, tick and end lines are read") {
    RxParser parser;
    const auto ready = parser.feed("ready\t1795180000000000000\t5123456789012");
    CHECK(std::get<Ready>(ready).epoch_ns == 1795180000000000000);
    CHECK(std::get<Ready>(ready).monotonic_ns == 5123456789012);

    const auto tick = parser.feed("tick\t1795180005000000000\tseen=101\tincomplete.no-read=3");
    CHECK(std::get<Tick>(tick).epoch_ns == 1795180005000000000);
    REQUIRE(std::get<Tick>(tick).counts.size() == 2);
    CHECK(std::get<Tick>(tick).counts[1].key == "incomplete.no-read");
    CHECK(std::get<Tick>(tick).counts[1].value == 3);

    const auto end = parser.feed("end\t1795180007000000000");
    CHECK(std::get<End>(end).epoch_ns == 1795180007000000000);
    CHECK(std::get<End>(end).counts.empty());
}

TEST_CASE("a difference of counters that is below 0 at a tick is none yet, at the end it is a fault that is told") {
    RxParser parser;
    const auto tick = parser.feed("tick\t1795180005000000000\tseen=9390\treported=9441\tincomplete.unread=-25");
    REQUIRE(std::holds_alternative<Tick>(tick));
    CHECK(std::get<Tick>(tick).counts[1].value == 9441);
    CHECK(std::get<Tick>(tick).counts[2].value == 0);
    const auto end = parser.feed("end\t1795180007000000000\tseen=9390\tincomplete.unread=-25\tacks=3");
    REQUIRE(std::holds_alternative<End>(end));
    const auto counts = std::get<End>(end).counts;
    CHECK(counts[1].value == 0);
    CHECK(counts[3].key == "below-zero");
    CHECK(counts[3].value == 1);
}

TEST_CASE("further kinds of records may be declared, and records of all kinds may alternate") {
    RxParser parser;
    const Schema* const first = &parser.header()->schemas[0];
    const auto declared = parser.feed("fields\tirq\ttime:time\tnr:int");
    REQUIRE(std::holds_alternative<FieldsLine>(declared));
    CHECK(std::get<FieldsLine>(declared).schema->index == 1);
    for (int round = 0; round < 3; ++round) {
        const auto irq = parser.feed("irq\t5\t19");
        CHECK(std::get<Record>(irq).schema->tag == "irq");
        CHECK(std::get<Record>(irq).values.size() == 2);
        const auto rx = parser.feed("rx\t5\t6\t7\t8\tx\t1\t2\t3");
        CHECK(std::get<Record>(rx).schema == first);
    }
    CHECK(flaw_of(parser, "fields\tirq\ttime:time") == Flaw::bad_header);
    CHECK(flaw_of(parser, "fields\ttick\ttime:time") == Flaw::bad_header);
    CHECK(flaw_of(parser, "fields\tnew") == Flaw::bad_header);
    CHECK(flaw_of(parser, "fields\tnew\ttime:fortnight") == Flaw::bad_header);
    CHECK(flaw_of(parser, "fields\tnew\ta:int\ta:int") == Flaw::bad_header);
    CHECK(flaw_of(parser, "new\t3") == Flaw::unknown_tag);
}

TEST_CASE("every kind of bad line is told apart and none is taken for a record") {
    RxParser parser;
    const auto flaw = [&parser](std::string_view line) { return flaw_of(parser, line); };
    CHECK(flaw("") == Flaw::unknown_tag);
    CHECK(flaw("rx") == Flaw::unknown_tag);
    CHECK(flaw("rxx\t5\t6\t7\t8\tx\t1\t2\t3") == Flaw::unknown_tag);
    CHECK(flaw("WARNING: Number of errors: 0, skipped probes: 7") == Flaw::unknown_tag);
    CHECK(flaw("rx\t5\t6\t7\t8\tx\t1\t2") == Flaw::field_count);
    CHECK(flaw("rx\t5\t6\t7\t8\tx\t1\t2\t3\t4") == Flaw::field_count);
    CHECK(flaw("rx\t5\t6\t7\t8\tx\t1\t2\t3\t") == Flaw::field_count);
    CHECK(flaw("rx\t5\t6\t7\t8\tx\t1\t2\t") == Flaw::bad_number);
    CHECK(flaw("rx\t5\t6\t7\t8\tx\t1\t\t3") == Flaw::bad_number);
    CHECK(flaw("rx\t\t6\t7\t8\tx\t1\t2\t3") == Flaw::bad_number);
    CHECK(flaw("rx\t-5\t6\t7\t8\tx\t1\t2\t3") == Flaw::bad_number);
    CHECK(flaw("rx\t5\t6\t7\t8\tx\t1\t2\t--") == Flaw::bad_number);
    CHECK(flaw("rx\t5\t6\t7\t8\tx\t1\t2\t3 ") == Flaw::bad_number);
    CHECK(flaw("rx\t5\t6\t7\t8\tx\t1\t2.5\t3") == Flaw::bad_number);
    CHECK(flaw("rx\t5\t6\t7\t8\tx\t1\t2\t9223372036854775808") == Flaw::bad_number);
    CHECK_FALSE(flaw("rx\t5\t6\t7\t8\tx\t1\t2\t9223372036854775807"));
    CHECK(flaw("rx\t5\t6\t7\t8\tx\0y\t1\t2\t3"sv) == Flaw::bad_text);
    CHECK(flaw("rx\t5\t6\0\t7\t8\tx\t1\t2\t3"sv) == Flaw::bad_number);
    CHECK(flaw("rx\t5\t6\t7\t8\t\x1b[31m\t1\t2\t3") == Flaw::bad_text);
    CHECK(flaw("ready\t5") == Flaw::field_count);
    CHECK(flaw("ready\t5\t6\t7") == Flaw::field_count);
    CHECK(flaw("ready\t5\t-6") == Flaw::bad_number);
    CHECK(flaw("tick\tnoon") == Flaw::bad_number);
    CHECK(flaw("tick\t5\tseen") == Flaw::bad_number);
    CHECK(flaw("tick\t5\tseen=") == Flaw::bad_number);
    CHECK(flaw("tick\t5\t=7") == Flaw::bad_number);
    CHECK(flaw("tick\t5\tse\x1b"
               "en=1") == Flaw::bad_text);
    CHECK(flaw("end\t5\t") == Flaw::bad_number);
}

TEST_CASE("lines are counted, and the first bad ones kept by number") {
    RxParser parser;
    for (int i = 0; i < 7; ++i)
        parser.feed("noise");
    parser.feed("rx\t5\t6\t7\t8\tx\t1\t2\t3");
    const auto& input = parser.input();
    CHECK(input.lines == 9);
    CHECK(input.recognised == 2);
    CHECK(input.unrecognised == 7);
    REQUIRE(input.first_flaws.size() == InputCounts::kept_flaws);
    CHECK(input.first_flaws[0].number == 2);
    CHECK(input.first_flaws[0].flaw == Flaw::unknown_tag);
    CHECK(input.first_flaws[4].number == 6);
}

TEST_CASE("noise before the header does not keep it from being read") {
    RecordParser parser;
    CHECK(flaw_of(parser, "Pass 5: starting run.") == Flaw::no_header);
    CHECK(flaw_of(parser, "rx\t5\t6\t7\t8\tx\t1\t2\t3") == Flaw::no_header);
    CHECK(parser.header() == nullptr);
    CHECK_FALSE(flaw_of(parser, rx_header));
    CHECK_FALSE(parser.refusal());
}

TEST_CASE("a line end of Windows is forgiven") {
    RecordParser parser;
    CHECK_FALSE(flaw_of(parser, std::string(rx_header) + "\r"));
    CHECK_FALSE(flaw_of(parser, "rx\t5\t6\t7\t8\tx\t1\t2\t3\r"));
}

TEST_CASE("a newer format is refused with its version, and nothing after it is read") {
    RecordParser parser;
    CHECK(flaw_of(parser, "stapgen\t5\trx-latency\trx\ttime:time") == Flaw::newer_version);
    REQUIRE(parser.refusal());
    CHECK(parser.refusal()->kind == ErrorKind::bad_input);
    CHECK(parser.refusal()->what == "line 1 has format version 5; this stapgen reads versions up to 4");
    CHECK_FALSE(parser.refusal()->hint.empty());
    CHECK(flaw_of(parser, rx_header) == Flaw::no_header);
    CHECK(flaw_of(parser, "rx\t5") == Flaw::no_header);
}

TEST_CASE("version 3 says of fields what results are grouped by, and where a stage was spent") {
    RecordParser parser;
    CHECK_FALSE(
        flaw_of(parser, "stapgen\t3\tmine\tm\tname:text,key\tcpu:int\tpoll:stage,cpu\tcopy:stage,thread\td:int,depth"));
    const auto& schema = parser.header()->schemas.front();
    CHECK(schema.fields[0].attribute == Attribute::key);
    CHECK(schema.fields[1].attribute == Attribute::none);
    CHECK(schema.fields[2].attribute == Attribute::cpu);
    CHECK(schema.fields[3].attribute == Attribute::thread);
    CHECK(schema.find(Attribute::depth) == 4);
    CHECK(schema.fields[2].type == FieldType::stage);
    CHECK_FALSE(flaw_of(parser, "m\tNET_RX\t1\t17\t-\t3"));
    for (const char* field : {"a:text,", "a:text,cpu", "a:time,key", "a:stage,depth", "a:int,key,key", "a:int, key"}) {
        CAPTURE(field);
        RecordParser other;
        CHECK(flaw_of(other, fmt::format("stapgen\t3\tmine\tm\t{}", field)) == Flaw::bad_header);
    }
}

TEST_CASE("addresses of hosts are read strictly") {
    RecordParser parser;
    CHECK_FALSE(flaw_of(parser, "stapgen\t4\tmine\tm\tremote:ip,key\tn:count"));
    for (const char* good : {"0.ffff7f000001", "0.0", "fe80000000000000.1", "0.1"})
        CHECK_FALSE(flaw_of(parser, fmt::format("m\t{}\t7", good)));
    for (const char* bad : {"", "-", "0", "0.", ".1", "00.1", "0.01", "0.ffff7f000001:80", "0.ffff7f00000G", "0.1F"})
        CHECK(flaw_of(parser, fmt::format("m\t{}\t7", bad)) == Flaw::bad_number);
}

TEST_CASE("call paths are addresses with commas between") {
    RecordParser parser;
    CHECK_FALSE(flaw_of(parser, "stapgen\t4\tmine\tm\tframes:stack\tn:count"));
    for (const char* good : {"ffffffff81000010", "ffffffff81000010,0,FF", "1,2,3"})
        CHECK_FALSE(flaw_of(parser, fmt::format("m\t{}\t7", good)));
    for (const char* bad : {"", "-", ",", "1,", ",1", "1,,2", "1 2", "g", "11111111111111111", "0x1", "1,-2"})
        CHECK(flaw_of(parser, fmt::format("m\t{}\t7", bad)) == Flaw::bad_number);
    CHECK(stack_addresses("ffffffff81000010,0,ff") == std::vector<std::uint64_t>{0xffffffff81000010, 0, 0xff});
}

TEST_CASE("a recording of version 2 has endpoints, and they are read strictly") {
    RecordParser parser;
    CHECK_FALSE(flaw_of(parser, "stapgen\t2\trx-latency\trx\tlocal:endpoint\tbytes:value"));
    CHECK(parser.header()->version == 2);
    const auto line = parser.feed("rx\t0.ffff7f000001:11211\t100");
    REQUIRE(std::holds_alternative<Record>(line));
    CHECK(std::get<Record>(line).values[0].raw == "0.ffff7f000001:11211");
    CHECK(std::get<Record>(line).values[1].number == 100);
    for (const char* good : {"0.1:80", "0.0:0", "fe80000000000000.1:65535", "ffffffffffffffff.ffffffffffffffff:1"}) {
        CAPTURE(good);
        CHECK_FALSE(flaw_of(parser, fmt::format("rx\t{}\t-", good)));
    }
    for (const char* bad : {"",
                            "-",
                            "0.1",
                            "0:80",
                            "0.1:",
                            ".1:80",
                            "0.:80",
                            "00.1:80",
                            "0.01:80",
                            "0.1:080",
                            "0.1:65536",
                            "0.1:-1",
                            "0.1:+1",
                            "0x0.1:80",
                            "0.A:80",
                            "10000000000000000.1:80",
                            "0.10000000000000000:80",
                            "0.1:80 ",
                            " 0.1:80",
                            "0.1:80:80",
                            "0.1.1:80"}) {
        CAPTURE(bad);
        CHECK(flaw_of(parser, fmt::format("rx\t{}\t1", bad)) == Flaw::bad_number);
    }
    CHECK(flaw_of(parser, "rx\t0.1:80") == Flaw::field_count);
}

TEST_CASE("an invalid header is refused") {
    for (const char* header :
         {"stapgen\tone\trx-latency\trx\ttime:time", "stapgen\t0\trx-latency\trx\ttime:time", "stapgen\t1",
          "stapgen\t1\trx-latency", "stapgen\t1\trx-latency\trx", "stapgen\t1\t\trx\ttime:time",
          "stapgen\t1\trx-latency\trx\ttime", "stapgen\t1\trx-latency\trx\t:time",
          "stapgen\t1\trx-latency\tend\ttime:time", "stapgen\t1\trx-latency\t\ttime:time"}) {
        CAPTURE(header);
        RecordParser parser;
        CHECK(flaw_of(parser, header) == Flaw::bad_header);
        CHECK(parser.refusal());
        CHECK(parser.header() == nullptr);
    }
}

TEST_CASE("of two recordings in one input only the first is read") {
    RxParser parser;
    CHECK_FALSE(flaw_of(parser, "rx\t5\t6\t7\t8\tx\t1\t2\t3"));
    CHECK(flaw_of(parser, rx_header) == Flaw::second_header);
    CHECK(flaw_of(parser, "rx\t5\t6\t7\t8\tx\t1\t2\t3") == Flaw::second_header);
    CHECK(flaw_of(parser, "end\t5\tseen=1") == Flaw::second_header);
}

TEST_CASE("no bytes bring the parser down, and every line is counted once") {
    std::mt19937_64 random(1009);
    const std::string good = "rx\t5123456831957\t6\t309\t313\tweb\t986\t-\t1201";
    RxParser parser;
    std::int64_t lines = 1;
    for (int i = 0; i < 20011; ++i) {
        std::string line = good;
        for (auto changes = random() % 4; changes > 0; --changes) {
            line[random() % line.size()] = static_cast<char>(random());
        }
        line.resize(random() % (line.size() + 1));
        const auto parsed = parser.feed(line);
        if (const auto* record = std::get_if<Record>(&parsed)) CHECK(record->values.size() == 8);
        ++lines;
    }
    CHECK(parser.input().lines == lines);
    CHECK(parser.input().recognised + parser.input().unrecognised == lines);
    CHECK(parser.input().recognised > 1);
    CHECK(parser.input().unrecognised > 10000);
}

TEST_CASE("take and feed read the same from the same lines, whatever they are and wherever they are cut") {
    struct Collector : Sink {
        std::vector<std::string> seen;
        void record(const Record& record) override { seen.push_back(text_of(record)); }
        void line(const Line& line) override { seen.push_back(fmt::format("line {}", line.index())); }
    };
    constexpr std::string_view header =
        "stapgen\t2\tmine\tm\ttime:time\tcpu:int\tcomm:text\tlocal:endpoint\tbytes:value\twait:stage\tat:address"
        "\twhy:reason\tn:count\tlast:stage";
    constexpr std::string_view alphabet = "\t\t\r0123456789-abcfxAF.:=_ \0\x1b\xff\x7f"sv;
    const std::vector<std::string> good{
        "m\t5123456831957\t6\tweb server\t0.ffff7f000001:11211\t-1009\t986\tffffffff9a3c1d47\t-1\t17\t-",
        "m\t0\t-9223372036854775808\t\tfe80000000000000.1:0\t-\t-\t0\t3\t0\t9223372036854775807\r",
        "m\t12345678\t-0\t12345678\t0.0:65535\t00000000000000000000123456789012345678\t-0\tABCDEF0123456789\t-1"
        "\t1234567890123456\t12345678901234567",
        "m\t1234567\t123456789\t\\302\\265s\t0.1:65536\t99999999999999999\t123456789012345\t0\t0\t0\t1",
        "other\t17\tb",
        "tick\t1795180005000000000\tseen=101\tincomplete.no-read=3",
        "ready\t1795180000000000000\t5123456789012",
    };
    std::mt19937_64 random(2027);
    RecordParser feeder, taker;
    Collector taken;
    const std::string first = std::string(header) + "\nfields\tother\tn:int\tt:text\n";
    feeder.feed(header);
    feeder.feed("fields\tother\tn:int\tt:text");
    REQUIRE(taker.take(first, taken) == first.size());
    std::int64_t records = 0, flawed = 0;
    for (int round = 0; round < 3001; ++round) {
        std::vector<std::string> lines(1 + random() % 5);
        std::string text;
        for (auto& line : lines) {
            line = good[random() % good.size()];
            for (auto changes = random() % 5 == 0 ? 1 + random() % 3 : 0; changes > 0; --changes) {
                const auto place = random() % line.size();
                const char other = alphabet[random() % alphabet.size()];
                if (random() % 3 == 0) {
                    line.insert(place, 1, other);
                } else if (random() % 2 == 0 && line.size() > 1) {
                    line.erase(place, 1);
                } else {
                    line[place] = other;
                }
            }
            text += line + "\n";
        }
        // What take() stops at is fed to the other parser and left out here.
        std::size_t at = 0;
        for (std::size_t i = 0; i < lines.size();) {
            taken.seen.clear();
            at += taker.take(std::string_view(text).substr(at), taken);
            for (const auto& seen : taken.seen) {
                CAPTURE(lines[i]);
                const auto line = feeder.feed(lines[i]);
                const auto* record = std::get_if<Record>(&line);
                CHECK(seen == (record != nullptr ? text_of(*record) : fmt::format("line {}", line.index())));
                records += record != nullptr ? 1 : 0;
                ++i;
            }
            if (i == lines.size()) break;
            CAPTURE(lines[i]);
            CHECK(flaw_of(feeder, lines[i]));
            at = text.find('\n', at) + 1;
            ++flawed;
            ++i;
        }
        CHECK(at == text.size());
    }
    CHECK(records > 3001);
    CHECK(flawed > 1009);
}

TEST_CASE("what does not end with a line is not taken, and need not be followed by anything") {
    RxParser parser;
    struct Counter : Sink {
        int records = 0;
        void record(const Record&) override { ++records; }
        void line(const Line&) override {}
    } sink;
    const std::string text = "rx\t5\t6\t7\t8\tx\t1\t2\t3\nrx\t5\t6\t7\t8\tx\t1\t2\t3\nrx\t5\t6\t7";
    for (std::size_t size = 0; size <= text.size(); ++size) {
        const std::vector<char> exact(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
        sink.records = 0;
        const auto taken = parser.take({exact.data(), exact.size()}, sink);
        CHECK(taken == text.substr(0, size).rfind('\n') + 1);
        CHECK(sink.records == std::count(exact.begin(), exact.end(), '\n'));
    }
}

TEST_CASE("a recording declares a bounded number of fields, stages and kinds of records") {
    namespace limits = stapgen::base::limits;
    const auto header = [](std::string_view type, std::size_t count) {
        std::string line = "stapgen\t4\tr\tt";
        for (std::size_t i = 0; i < count; ++i)
            line += fmt::format("\ts{}:{}", i, type);
        return line;
    };
    for (const auto& [type, limit, words] :
         {std::tuple("int", limits::fields, "256 fields"), std::tuple("stage", limits::measures, "64 stages")}) {
        RecordParser fits, over;
        CHECK_FALSE(flaw_of(fits, header(type, limit)));
        CHECK(flaw_of(over, header(type, limit + 1)) == Flaw::over_limit);
        REQUIRE(over.refusal());
        CHECK(over.refusal()->what.find(words) != std::string::npos);
    }
    RecordParser kinds;
    CHECK_FALSE(flaw_of(kinds, header("stage", limits::measures - 1)));
    for (std::size_t i = 1; i < limits::kinds_of_records; ++i)
        CHECK_FALSE(flaw_of(kinds, fmt::format("fields\tk{}\ta:{}", i, i == 1 ? "stage" : "int")));
    CHECK(flaw_of(kinds, "fields\tk\ta:int") == Flaw::over_limit);
    CHECK_FALSE(flaw_of(kinds, "k2\t7"));
    RecordParser measures;
    CHECK_FALSE(flaw_of(measures, header("stage", limits::measures)));
    CHECK(flaw_of(measures, "fields\tk\ta:value") == Flaw::over_limit);
    CHECK_FALSE(flaw_of(measures, "fields\tk\ta:int"));
}
