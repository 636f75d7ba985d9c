// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/collect.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "decode/record_parser.h"

using namespace stapgen;
using namespace stapgen::between;

namespace {

/// A host by lines of its recording.
struct Recorded final : decode::Sink {
    static constexpr std::size_t most = 101;
    Host host{.name = "app1", .file = "app1"};
    Collector collector{host, most};
    decode::RecordParser parser;

    Recorded() {
        feed(
            "stapgen\t4\tboth-ends\tends\ttime:time\tway:text\tlocal:endpoint\tremote:endpoint\tseq:int\treply_seq:"
            "int\t"
            "ask:stage\taway:stage\ttotal:stage\tarriving:value\n");
        feed("fields\tresent\ttime:time\tway:text\tlocal:endpoint\tremote:endpoint\tseq:int\tbytes:int\n");
    }
    void record(const decode::Record& record) override { collector.record(record); }
    void line(const decode::Line& line) override {
        if (const auto* ready = std::get_if<decode::Ready>(&line)) collector.ready(*ready);
    }
    void feed(const std::string& lines) { CHECK(parser.take(lines, *this) == lines.size()); }
    void feed(std::int64_t time, const char* way, std::int64_t seq, const std::string& times) {
        feed(
            fmt::format("ends\t{}\t{}\t0.ffff0a000001:40000\t0.ffff0a000002:5432\t{}\t7\t{}\n", time, way, seq, times));
    }
};

}  // namespace

TEST_CASE("requests whose stages cannot be are left out and counted") {
    Recorded recorded;
    recorded.feed("ready\t1000000000\t0\n");
    recorded.feed(50'000, "client", 1, "11\t31\t100\t5");
    recorded.feed(50'000, "client", 2, "11\t31\t40\t0");                      // shorter than its stages
    recorded.feed(50'000, "client", 3, "11\t31\t100\t-5");                    // the rest of the reply is below 0
    recorded.feed(50'000, "client", 4, "11\t31\t100\t59");                    // or longer than what is left
    recorded.feed(50'000, "client", 5, "11\t31\t1000060000\t0");              // begins before 1970
    recorded.feed(9'223'372'036'854'775'807, "client", 6, "11\t31\t100\t0");  // ends in 2262
    recorded.feed(50'000, "server", 7, "-\t-\t100\t101");                     // came before it came
    recorded.feed(50'000, "server", 8, "-\t-\t100\t100");
    REQUIRE(recorded.host.client.ends.size() == 1);
    const auto& end = recorded.host.client.ends.front();
    CHECK(end.from == 1'000'050'000 - 100 + 11);
    CHECK(end.to == end.from + 31);
    CHECK(end.after == 58);
    CHECK(end.rest == 5);
    REQUIRE(recorded.host.server.ends.size() == 1);
    CHECK(recorded.host.server.ends.front().from == recorded.host.server.ends.front().to);
    CHECK(recorded.collector.end().size() == 1);
}

TEST_CASE("clocks that no host has leave requests out, and nothing overflows") {
    Recorded recorded;
    recorded.feed("ready\t0\t9223372036854775807\n");
    recorded.feed(50'000, "client", 1, "11\t31\t100\t5");
    recorded.feed("ready\t9223372036854775807\t0\n");
    recorded.feed(9'223'372'036'854'775'807, "client", 2, "11\t31\t9223372036854775807\t5");
    CHECK(recorded.host.client.ends.empty());
    CHECK(recorded.collector.end().size() == 1);
}

TEST_CASE("more requests than there is room for are left out, and that is said") {
    Recorded recorded;
    recorded.feed("ready\t1000000000\t0\n");
    // In whatever order, and segments sent again among them.
    for (std::int64_t i = 0; i < 150; ++i) {
        recorded.feed(1'000'000 - 1'000 * i, "client", i, "11\t31\t100\t5");
        recorded.feed(fmt::format("resent\t{}\tclient\t0.ffff0a000001:40000\t0.ffff0a000002:5432\t7\t1000\n", i));
    }
    CHECK(recorded.host.client.ends.size() + recorded.host.client.resent.size() == Recorded::most);
    CHECK(recorded.host.server.ends.empty());
    CHECK(recorded.collector.end().size() == 1);
}
