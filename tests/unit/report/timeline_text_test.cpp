// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "report/model/slow_records.h"
#include "report/text/sections.h"

using namespace stapgen;
using analyze::Breakdown;
using analyze::SlowRecord;

namespace {

std::string text_of(const Breakdown& breakdown, const std::vector<SlowRecord>& records, std::size_t width = 80) {
    std::ostringstream out;
    report::write_timelines(out, analyze::Summary(), breakdown, records, {.screen = {.width = width}});
    return out.str();
}

}  // namespace

TEST_CASE("a record's stages stand below it, each where it was in the whole") {
    const Breakdown breakdown("rx", {"irq-raise", "drv-ip", "ip-udp", "tcp-queue", "copy"}, 5);
    const SlowRecord record{100'000,
                            7'000'000'013,
                            {1'000, 24'000, std::nullopt, 50'000, 25'000},
                            {{"cpu", std::int64_t{3}},
                             {"pid", std::int64_t{186}},
                             {"tid", std::int64_t{186}},
                             {"comm", std::string("mc-worker")},
                             {"local", std::string("10.0.0.1:11211")},
                             {"remote", std::string("10.0.0.2:4001")},
                             {"dev", std::string("eth0")},
                             {"bytes", std::int64_t{101}}}};
    CHECK(text_of(breakdown, {record}) ==
          "#1 100.000, 7.000000 s, rx 10.0.0.2:4001 > 10.0.0.1:11211, cpu 3, mc-worker/186,\n"
          "    eth0, 101 bytes\n"
          "     +0.000  irq-raise   1.000 |#                                              |\n"
          "     +1.000  drv-ip     24.000 |############                                   |\n"
          "    +25.000  tcp-queue  50.000 |            #######################            |\n"
          "    +75.000  copy       25.000 |                                   ############|\n");
}

TEST_CASE("rows have one length, fit the width, and every step has a mark") {
    const Breakdown breakdown("", {"a", "softirq-poll"}, 5);
    const auto text =
        text_of(breakdown, {{1'000'000'007, std::nullopt, {1'000'000'000, 7}, {}}, {3, std::nullopt, {0, 3}, {}}}, 61);
    for (const auto line : base::split(base::trim(text), '\n')) {
        if (line.find('|') == std::string_view::npos) continue;
        CHECK(line.size() <= 61);
        CHECK(line.find('#') != std::string_view::npos);
    }
    CHECK(text.find("#2 0.003\n") != std::string::npos);
    CHECK(text.find("+1000000.000") != std::string::npos);
}

TEST_CASE("a total above the sum of the stages leaves room behind the last of them") {
    const Breakdown breakdown("", {"a", "b"}, 5);
    CHECK(text_of(breakdown, {{10'000, std::nullopt, {2'000, 3'000}, {}}}, 40) ==
          "#1 10.000\n"
          "    +0.000  a  2.000 |###              |\n"
          "    +2.000  b  3.000 |   ######        |\n");
}

TEST_CASE("stages that add up to more than a number holds do no harm") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    const auto timeline = report::timeline_of({most, std::nullopt, {most, most, 1}, {}});
    CHECK(timeline.length_ns == most);
    CHECK(timeline.steps.size() == 3);
    CHECK_FALSE(text_of(Breakdown("", {"a", "b"}, 5), {{0, std::nullopt, {most, most, 1}, {}}}).empty());
    CHECK(report::timeline_of({0, std::nullopt, {}, {}}).length_ns == 1);
}

TEST_CASE("a record is named by its direction, its endpoints and its thread") {
    const analyze::Group of{{"tid", std::int64_t{190}},
                            {"comm", std::string("mc\x1bworker")},
                            {"pid", std::int64_t{186}},
                            {"local", std::string("[::1]:11211")},
                            {"remote", std::string("[::1]:4001")},
                            {"dev", std::string()}};
    CHECK(report::record_name("tx", of) == "tx [::1]:11211 > [::1]:4001, mc\\x1bworker/190, pid 186");
    CHECK(report::record_name("", of) == "[::1]:11211 - [::1]:4001, mc\\x1bworker/190, pid 186");
    CHECK(report::record_name("", {{"irq", std::int64_t{17}}, {"comm", std::string("x")}}) == "irq 17, comm x");
    CHECK(report::record_name("", {}).empty());
}
