// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "base/files.h"
#include "session/replay.h"
#include "unit/rows.h"

using namespace stapgen;
using session::parse_moment;

namespace {

/// 2026-11-25 10:00:00 UTC.
constexpr std::int64_t start_s = 1'795'600'800;

struct Utc {
    Utc() {
        ::setenv("TZ", "UTC", 1);
        ::tzset();
    }
};

/// A record each second for 31 seconds, on port 443 of ::1, each third also on port 7001 of 10.1.2.3. What the script
/// filtered: 5. What it lost: 2.
std::string recorded() {
    std::string text = "stapgen\t2\trx-latency\trx\ttime:time\tlocal:endpoint\tremote:endpoint\tdrv-ip:stage\n";
    text += fmt::format("ready\t{}000000000\t7000000000\n", start_s);
    int records = 0;
    for (int second = 0; second < 31; ++second) {
        const auto time_ns = (7 + second) * std::int64_t{1'000'000'000};
        text += fmt::format("rx\t{}\t0.1:443\t0.1:40000\t1000\n", time_ns);
        ++records;
        if (second % 3 != 0) continue;
        text += fmt::format("rx\t{}\t0.ffff0a010203:7001\t0.ffff0a010204:40001\t2000\n", time_ns + 1);
        ++records;
    }
    return text + fmt::format("end\t{}000000000\tseen={}\treported={}\tfiltered=5\tlost.map=2\n", start_s + 31,
                              records + 7, records);
}

base::Result<std::vector<summaries::Summary>> selected(const std::string& text, const session::Selection& selection) {
    const auto folder = base::PrivateDirectory::create().value();
    const auto file = folder.path() / "some.rec";
    REQUIRE(base::create_file(file, text));
    auto loaded = session::load({file}, {}, {}, {.selection = selection});
    if (!loaded) return tl::make_unexpected(loaded.error());
    std::vector<summaries::Summary> summaries;
    for (const auto& measured : *loaded)
        summaries.push_back(summaries::summary_of(measured));
    return summaries;
}

/// n of the stage; each record is accounted for.
std::int64_t count_of(const session::Selection& selection) {
    const auto summaries = selected(recorded(), selection);
    REQUIRE(summaries);
    const auto& summary = summaries->front();
    const auto& account = summary.accounting;
    CHECK(account.seen == 49);
    CHECK(account.filtered == 5 + 42 - account.reported);
    CHECK(account.lost_total() == 2);
    CHECK(account.unaccounted() == 0);
    std::int64_t n = 0;
    for (const auto& stage : summary.stages)
        if (stage.group.empty()) n = stage.stats.n();
    CHECK(n == account.reported);
    CHECK(std::ranges::any_of(summary.notes, [](const auto& note) {
              return note.text.starts_with("only records with");
          }) == !selection.is_all());
    return n;
}

session::Moment moment(std::string_view text) {
    return parse_moment(text).value();
}

}  // namespace

TEST_CASE("a moment is an offset, a time of day, or a date with a time") {
    const Utc utc;
    CHECK(std::get<session::Offset>(moment("90s")).ns == 90'000'000'000);
    CHECK(std::get<session::Offset>(moment("5m")).ns == 300'000'000'000);
    CHECK(std::get<session::TimeOfDay>(moment("14:05")).s == 50'700);
    CHECK(std::get<session::TimeOfDay>(moment("14:05:07")).s == 50'707);
    CHECK(std::get<session::Epoch>(moment("2026-11-25 10:00:00")).ns == start_s * 1'000'000'000);
    CHECK(std::get<session::Epoch>(moment("2026-11-25T10:00")).ns == start_s * 1'000'000'000);
    for (const char* text : {"", "yesterday", "25:00", "14:05:07 or so", "2026-11-25", "-5s"})
        CHECK_FALSE(parse_moment(text));
}

TEST_CASE("what a selection leaves out counts as filtered, and nothing else changes") {
    const Utc utc;
    CHECK(count_of({}) == 42);
    CHECK(count_of({.port = 443}) == 31);
    CHECK(count_of({.port = 7001}) == 11);
    CHECK(count_of({.port = 40001}) == 11);
    CHECK(count_of({.port = 22}) == 0);
    CHECK(count_of({.address = filter::parse_network("10.0.0.0/8").value()}) == 11);
    CHECK(count_of({.address = filter::parse_network("::1").value()}) == 31);
    CHECK(count_of({.port = 443, .address = filter::parse_network("10.0.0.0/8").value()}) == 0);
    // The record of the moment itself is of what follows.
    CHECK(count_of({.since = moment("0s")}) == 42);
    CHECK(count_of({.since = moment("7s")}) == 32);
    CHECK(count_of({.since = moment("10:00:07")}) == 32);
    CHECK(count_of({.since = moment("2026-11-25 10:00:07")}) == 32);
    CHECK(count_of({.until = moment("7s")}) == 10);
    CHECK(count_of({.port = 7001, .since = moment("3s"), .until = moment("10:00:13")}) == 4);
    // Addresses without a port.
    const auto asks = selected("stapgen\t4\tmine\tm\tremote:ip\tcost:stage\nm\t0.ffff0a010203\t1009\nm\t0.1\t1013\n",
                               {.address = filter::parse_network("10.0.0.0/8").value()});
    REQUIRE(asks);
    CHECK(asks->front().accounting.reported == 1);
    CHECK(asks->front().accounting.filtered == 1);
}

TEST_CASE("a time of day is of the day on which the measurement began, or of the next one") {
    const Utc utc;
    auto text = recorded();
    // 23:59:50
    text.replace(text.find(fmt::format("{}", start_s)), 10, fmt::format("{}", start_s + 13 * 3600 + 59 * 60 + 50));
    const auto summaries = selected(text, {.since = moment("00:00:03")});
    REQUIRE(summaries);
    CHECK(summaries->front().accounting.reported == 18 + 6);
}

TEST_CASE("records without a time are of the interval that the last tick began") {
    const std::string drops =
        "stapgen\t2\tdropwatch\tdrop\tlocation:address\tcount:count\nready\t1000000000\t500\n"
        "drop\tffffffffa5b3a20a\t3\ntick\t6000000000\tseen=3\treported=3\n"
        "drop\tffffffffa5b3a20a\t5\ntick\t11000000000\tseen=8\treported=8\n"
        "drop\tffffffffa5b3a20a\t7\nend\t16000000000\tseen=15\treported=15\n";
    const auto count = [&](const session::Selection& selection) {
        const auto summaries = selected(drops, selection);
        REQUIRE(summaries);
        const auto& account = summaries->front().accounting;
        CHECK(account.filtered == 15 - account.reported);
        CHECK(account.lost_total() == 0);
        return account.reported;
    };
    CHECK(count({.since = moment("5s")}) == 12);
    CHECK(count({.since = moment("6s")}) == 7);
    CHECK(count({.until = moment("6s")}) == 8);
}

TEST_CASE("what cannot be selected is refused") {
    const auto refusal = [](const std::string& text, const session::Selection& selection) {
        const auto summaries = selected(text, selection);
        REQUIRE_FALSE(summaries);
        CHECK(summaries.error().kind == base::ErrorKind::bad_input);
        return summaries.error().what;
    };
    const std::string drops = "stapgen\t2\tdropwatch\tdrop\tlocation:address\tcount:count\ndrop\tff\t3\n";
    CHECK(refusal(drops, {.port = 443}) == "--port: the records of dropwatch have no ports");
    CHECK(refusal(drops, {.address = filter::parse_network("::1").value()}) ==
          "--addr: the records of dropwatch have no addresses");
    CHECK(refusal(drops, {.since = moment("5s"), .options = "--since 5s"}) == "--since 5s: the text has no times");
}
