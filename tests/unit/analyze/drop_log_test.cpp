// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <random>

#include "unit/rows.h"

using namespace stapgen::summaries;
using stapgen::decode::FieldType;

namespace {

/// A DropLog that is fed with places and reasons.
class Log {
  public:
    explicit Log(IntervalLog& intervals) : log_(intervals) {}

    void add(std::string_view place, std::string_view reason, std::int64_t count) {
        const std::vector<stapgen::decode::Value> values{{place}, {reason, 0, reason != "-"}, {"", count}};
        log_.add({&schema_, values}, {.place = 0, .reason = 1, .stack = {}, .count = 2, .keys = {}});
    }
    [[nodiscard]] std::vector<Drop> rows() const { return log_.rows().rows(false); }
    /// Of the open interval, as it stands behind the others.
    [[nodiscard]] std::vector<Drop> open_rows() const {
        auto all = log_.rows().rows(true);
        all.erase(all.begin(), all.begin() + std::ssize(rows()));
        return all;
    }

  private:
    stapgen::schema::Schema schema_{
        "drop", 0, {{"place", FieldType::place}, {"reason", FieldType::reason_name}, {"count", FieldType::count}}};
    stapgen::kinds::drops::DropLog log_;
};

/// By place, of all intervals.
std::map<std::string, std::int64_t> totals(const std::vector<Drop>& rows) {
    std::map<std::string, std::int64_t> counts;
    for (const auto& drop : rows)
        counts[*drop.place.symbol] += drop.count;
    return counts;
}

}  // namespace

TEST_CASE("drops of any number of intervals are kept in bounded memory, and none is lost or reported twice") {
    std::mt19937_64 random(1013);
    IntervalLog intervals;
    Log log(intervals);
    std::map<std::string, std::int64_t> truth;
    constexpr std::int64_t closed = 10007;
    std::size_t max_rows = 0;
    for (std::int64_t i = 0; i < closed; ++i) {
        for (int row = 0; row < 5; ++row) {
            const auto place = fmt::format("tcp_place_{}", random() % 11);
            const auto count = static_cast<std::int64_t>(random() % 101);
            log.add(place, "-", count);
            truth[place] += count;
        }
        intervals.close({7 * i, 7 * (i + 1)});
        if (i % 1009 == 0) max_rows = std::max(max_rows, log.rows().size());
    }
    const auto rows = log.rows();
    CHECK(totals(rows) == truth);
    CHECK(max_rows <= 2 * IntervalLog::max_rows);
    REQUIRE(intervals.intervals().size() > IntervalLog::max_intervals / 8);
    CHECK(intervals.intervals().size() <= IntervalLog::max_intervals + 1);
    CHECK(intervals.intervals().front().start_epoch_ns == 0);
    CHECK(intervals.intervals().back().end_epoch_ns == 7 * closed);
    for (std::size_t i = 1; i < intervals.intervals().size(); ++i)
        CHECK(intervals.intervals()[i].start_epoch_ns == intervals.intervals()[i - 1].end_epoch_ns);
    for (std::size_t i = 1; i < rows.size(); ++i) {
        CHECK(rows[i - 1].interval <= rows[i].interval);
        if (rows[i - 1].interval != rows[i].interval) continue;
        CHECK(rows[i - 1].count >= rows[i].count);
        CHECK(*rows[i - 1].place.symbol != *rows[i].place.symbol);
    }
    for (const auto& drop : rows)
        CHECK(drop.time == intervals.intervals()[static_cast<std::size_t>(drop.interval)].end_epoch_ns);
}

TEST_CASE("the open interval counts on from the closed ones and has no end") {
    IntervalLog intervals;
    Log log(intervals);
    log.add("icmp_rcv+0x12d/0x400", "-", 3);
    intervals.close({1, 2});
    log.add("icmp_rcv+0x12d/0x400", "-", 5);
    log.add("tcp_v4_rcv", "-", 7);
    const auto open = log.open_rows();
    REQUIRE(open.size() == 2);
    CHECK(open[0].place.symbol == "tcp_v4_rcv");
    CHECK(open[1].count == 5);
    CHECK(open[1].place.offset == 0x12d);
    CHECK(open[1].interval == 1);
    CHECK_FALSE(open[1].time);
    REQUIRE(log.rows().size() == 1);
    CHECK(log.rows()[0].count == 3);
}

TEST_CASE("intervals without drops are kept in bounded memory, too, and the drops after them are reported") {
    IntervalLog intervals;
    Log log(intervals);
    constexpr std::int64_t closed = 3 * static_cast<std::int64_t>(IntervalLog::max_intervals) + 1;
    for (std::int64_t i = 0; i < closed; ++i)
        intervals.close({i, i + 1});
    CHECK(log.rows().empty());
    for (const auto* place : {"tcp_v4_rcv", "icmp_rcv", "tcp_v4_rcv"})
        log.add(place, "-", 17);
    intervals.close({closed, closed + 1});
    CHECK(intervals.intervals().size() <= IntervalLog::max_intervals + 1);
    CHECK(intervals.intervals().back().end_epoch_ns == closed + 1);
    const auto rows = log.rows();
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].place.symbol == "tcp_v4_rcv");
    CHECK(rows[0].count == 34);
    CHECK(rows[1].count == 17);
}

TEST_CASE("of more places than can be told apart the rest is one, and no drop is missing") {
    IntervalLog intervals;
    Log log(intervals);
    for (std::size_t i = 0; i < stapgen::kinds::CountedRows<stapgen::rows::Drop>::max_rows + 1009; ++i)
        log.add(std::to_string(i) + "th_place", "-", 3);
    const auto rows = log.open_rows();
    CHECK(rows.size() == stapgen::kinds::CountedRows<stapgen::rows::Drop>::max_rows + 1);
    CHECK(rows.front().place.symbol == "other places");
    CHECK(rows.front().count == 3 * 1009);
}

TEST_CASE("a reason that is printed as a number is one that can be named") {
    IntervalLog intervals;
    Log log(intervals);
    for (const auto* reason : {"12", "NO_SOCKET", "99999999999"}) {
        log.add("tcp_v4_rcv", reason, 1);
    }
    const auto rows = log.open_rows();
    REQUIRE(rows.size() == 3);
    for (const auto& drop : rows) {
        if (drop.reason.number == 12) {
            CHECK_FALSE(drop.reason.name);
        } else {
            CHECK(drop.reason.number == -1);
            CHECK((drop.reason.name == "NO_SOCKET" || drop.reason.name == "99999999999"));
        }
    }
}
