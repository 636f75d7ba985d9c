// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "show/model/slow_records.h"
#include "show/text/sections.h"

using namespace stapgen;
using table::Breakdown;

namespace {

table::Results results_of(const Breakdown& breakdown, const std::vector<table::SlowRecord>& records) {
    using table::Type;
    table::Table slowest{.name = "slowest",
                         .columns = {{"number", Type::count},
                                     {"way", Type::text},
                                     {"total_ns", Type::duration},
                                     {"time_ns", Type::duration},
                                     {"stages_ns", Type::durations},
                                     {"of", Type::group}}};
    for (const auto& record : records) {
        table::Durations stages;
        for (std::size_t i = 0; i < record.stages.size(); ++i)
            stages.emplace_back(breakdown.stages().at(i), record.stages[i]);
        slowest.rows.push_back({std::int64_t{0}, breakdown.direction(), record.total_ns,
                                table::value_of(record.time_ns), stages, record.of});
    }
    table::Table ways{.name = "ways", .columns = {{"number", Type::count}, {"way", Type::text}}};
    ways.rows.push_back({std::int64_t{0}, breakdown.direction()});
    return {.tables = {std::move(slowest), std::move(ways)}};
}

/// Without the heading and the empty line at the end.
std::string text_of(const Breakdown& breakdown, const std::vector<table::SlowRecord>& records, std::size_t width = 80) {
    std::ostringstream out;
    const auto results = results_of(breakdown, records);
    show::write_timelines(out, results, results.at("ways").rows.front(), {.screen = {.width = width}});
    const auto text = out.str();
    const auto begin = text.find('\n') + 1;
    CHECK(text.starts_with("The slowest "));
    return text.substr(begin, text.size() - begin - 1);
}

}  // namespace

TEST_CASE("a record's stages stand below it, each where it was in the whole") {
    const Breakdown breakdown("rx", {"irq-raise", "drv-ip", "ip-udp", "tcp-queue", "copy"}, 5);
    const table::SlowRecord record{100'000,
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
    const Breakdown breakdown("", {"a", "b", "c"}, 5);
    const std::vector<table::SlowRecord> records{{most, std::nullopt, {most, most, 1}, {}}, {0, std::nullopt, {}, {}}};
    const auto slowest = show::slowest_of(results_of(breakdown, records), std::int64_t{0});
    REQUIRE(slowest.size() == 2);
    CHECK(slowest[0].length_ns == most);
    CHECK(slowest[0].steps.size() == 3);
    CHECK_FALSE(text_of(breakdown, {{0, std::nullopt, {most, most, 1}, {}}}).empty());
    CHECK(slowest[1].length_ns == 1);
}

TEST_CASE("a record is named by its direction, its endpoints and its thread") {
    const table::Group of{{"tid", std::int64_t{190}},
                          {"comm", std::string("mc\x1bworker")},
                          {"pid", std::int64_t{186}},
                          {"local", std::string("[::1]:11211")},
                          {"remote", std::string("[::1]:4001")},
                          {"dev", std::string()}};
    CHECK(show::record_name("tx", of) == "tx [::1]:11211 > [::1]:4001, mc\\x1bworker/190, pid 186");
    CHECK(show::record_name("", of) == "[::1]:11211 - [::1]:4001, mc\\x1bworker/190, pid 186");
    CHECK(show::record_name("", {{"irq", std::int64_t{17}}, {"comm", std::string("x")}}) == "irq 17, comm x");
    CHECK(show::record_name("", {}).empty());
    const auto waited = [&](const char* what, const char* by, std::int64_t ns) {
        return show::record_name("", {{"waited", std::string(what)}, {"by", std::string(by)}, {"waited_ns", ns}});
    };
    CHECK(waited("run-queue", "spin[77]", 5000000) == "run-queue 5.00 ms behind spin[77]");
    CHECK(waited("run-queue", "idle", 50000) == "run-queue 50.0 us on an idle CPU");
    CHECK(waited("run-queue", "not seen", 50000) == "run-queue 50.0 us");
    CHECK(waited("throttled", "/a\x1b.service", 31000000) == "throttled 31.0 ms in /a\\x1b.service");
    CHECK(waited("asleep", "futex_wait_queue", 7000000) == "asleep 7.00 ms in futex_wait_queue");
    CHECK(waited("-", "-", 0).empty());
    // Another recipe's field of that name.
    CHECK(show::record_name("", {{"by", std::string("x")}}) == "by x");
}
