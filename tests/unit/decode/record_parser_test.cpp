// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "rx_parser.h"

using namespace rx_parser;
using namespace std::string_view_literals;
using stapgen::base::ErrorKind;

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
    CHECK(flaw_of(parser, "stapgen\t6\trx-latency\trx\ttime:time") == Flaw::newer_version);
    REQUIRE(parser.refusal());
    CHECK(parser.refusal()->kind == ErrorKind::bad_input);
    CHECK(parser.refusal()->what == "line 1 has format version 6; this stapgen reads versions up to 5");
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
