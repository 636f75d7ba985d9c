// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "base/limits.h"
#include "rx_parser.h"

using namespace rx_parser;
using namespace std::string_view_literals;
using stapgen::base::ErrorKind;

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
