// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/kept_lines.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "decode/record_parser.h"

using namespace stapgen;

namespace {

constexpr std::int64_t one_s = 1'000'000'000;

/// Lines of dropwatch: each second three packets of one reason, and what its counts are then.
class Run {
  public:
    explicit Run(std::uint64_t most_bytes) : lines(std::chrono::seconds(3), most_bytes) {
        parser_.feed("stapgen\t5\tdropwatch\tdrop\tlocation:address\treason:reason\tcount:count");
        lines.begin(100 * one_s);
    }
    void add(const std::string& text) { lines.add(text, parser_.feed(text), now * one_s); }
    /// It ends at this second, and by the wall clock, which is set back by an hour, at another one.
    void interval(std::int64_t number) {
        now = 100 + number;
        add(fmt::format("drop\tff0{}\t{}\t3", number % 10, number));
        counts_ += 3;
        add(fmt::format("tick\t{}\tseen={}\treported={}\tlost.evicted=0", wall_of(number), counts_ + 2, counts_));
    }
    std::vector<std::string> given() {
        std::vector<std::string> all;
        lines.give_out(0, [&](std::string_view line) { all.emplace_back(line); });
        return all;
    }
    static std::int64_t wall_of(std::int64_t number) { return (number < 16 ? 9000 + number : 5400 + number) * one_s; }
    session::KeptLines lines;
    std::int64_t now = 100;

  private:
    decode::RecordParser parser_;
    std::int64_t counts_ = 0;
};

}  // namespace

TEST_CASE("lines of the seconds before are given out, with counts that begin there") {
    Run run(1'000'000);
    for (int i = 1; i <= 17; ++i)
        run.interval(i);
    run.add("drop\tff\t18\t1");
    CHECK(run.lines.begin_ns() == 114 * one_s);
    CHECK(run.lines.since_ns(117 * one_s) == 114 * one_s);
    const std::vector<std::string> expected{
        "drop\tff05\t15\t3", fmt::format("tick\t{}\tlost.evicted=0\treported=3\tseen=3", Run::wall_of(15)),
        "drop\tff06\t16\t3", fmt::format("tick\t{}\tlost.evicted=0\treported=6\tseen=6", Run::wall_of(16)),
        "drop\tff07\t17\t3", fmt::format("tick\t{}\tlost.evicted=0\treported=9\tseen=9", Run::wall_of(17)),
        "drop\tff\t18\t1"};
    CHECK(fmt::format("{}", fmt::join(run.given(), "\n")) == fmt::format("{}", fmt::join(expected, "\n")));
    // What follows is of the same beginning.
    const std::vector<decode::Count> counts{{"seen", 60}, {"new", 7}};
    CHECK(run.lines.counts_line("end", 7, counts) == "end\t7\tseen=16\tnew=7");
    CHECK(run.given() == expected);
}

TEST_CASE("where memory is too small the oldest intervals go, and it is known since when all is there") {
    Run run(150);
    for (int i = 1; i <= 17; ++i)
        run.interval(i);
    std::string text;
    for (int i = 0; i < 7; ++i)
        run.add(fmt::format("drop\tff\t18\t{:017}", 1));
    CHECK(run.lines.begin_ns() == 117 * one_s);
    CHECK(run.lines.since_ns(118 * one_s) == 117 * one_s);
    const auto given = run.given();
    CHECK(given.size() == 5);
    // Two packets of the interval found no room.
    CHECK(run.lines.counts_line("tick", 7, std::vector<decode::Count>{{"reported", 58}}) ==
          "tick\t7\treported=5\tlost.not-kept=2");
}

TEST_CASE("a line that is longer than all memory is not held, and a moment at the end of time does no harm") {
    Run run(20);
    run.add("drop\tff\t1\t9223372036854775807");
    run.add("drop\tff\t1\t9223372036854775807");
    run.add("tick\t9223372036854775807\tseen=9223372036854775807\treported=9223372036854775807");
    CHECK(run.given() ==
          std::vector<std::string>{
              "tick\t9223372036854775807\treported=0\tseen=9223372036854775807\tlost.not-kept=9223372036854775807"});
    CHECK(run.lines.since_ns(7 * one_s) == 4 * one_s);
}
