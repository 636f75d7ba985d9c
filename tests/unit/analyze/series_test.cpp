// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/series.h"

#include <doctest/doctest.h>

#include <limits>

#include "summary_of.h"

using namespace stapgen::analyze;
using namespace stapgen::summaries;

namespace {

std::int64_t n_of(const Series& series) {
    std::int64_t n = 0;
    for (const auto& block : series.blocks()) {
        for (const auto& stage : block.stages)
            n += stage.n();
    }
    return n;
}

}  // namespace

TEST_CASE("blocks begin with the first record, and those without records are there") {
    Series series(1);
    series.at(7 * second).stages[0].add(1009);
    series.at(8 * second - 1).stages[0].add(1013);
    series.at(10 * second).stages[0].add(2003);
    CHECK(series.blocks().size() == 193);  // of 1/64 s
    const auto seconds = series.by_second();
    REQUIRE(seconds.blocks().size() == 4);
    CHECK(seconds.blocks()[0].start_ns == 7 * second);
    CHECK(seconds.blocks()[0].stages[0].n() == 2);
    CHECK(seconds.blocks()[1].stages[0].n() == 0);
    CHECK(seconds.blocks()[2].stages[0].n() == 0);
    CHECK(seconds.blocks()[3].stages[0].max() == 2003);
}

TEST_CASE("a run of two seconds has blocks short enough for a picture, and the same seconds") {
    Series series(1);
    for (std::int64_t i = 0; i < 1999; ++i)
        series.at(i * 1'000'000 + 3).stages[0].add(i);
    CHECK(series.block_ns() == second / 128);
    CHECK(series.blocks().size() == 256);
    CHECK(series.blocks()[1].stages[0].min() == 8);
    CHECK(n_of(series) == 1999);
    const auto seconds = series.by_second();
    REQUIRE(seconds.blocks().size() == 2);
    CHECK(seconds.blocks()[0].stages[0].n() == 1000);
    CHECK(seconds.blocks()[1].stages[0].n() == 999);
    CHECK(seconds.blocks()[1].stages[0].min() == 1000);
}

TEST_CASE("rings of several CPUs: what comes later, and is of seconds before the first record, has blocks of its own") {
    Series series(1);
    for (const std::int64_t from : {29, 0, 13})
        for (std::int64_t i = from * 100; i < 3500; ++i)
            series.at(7 + i * 10'000'000).stages[0].add(1009);
    series.settle();
    CHECK(series.blocks().size() <= Series::max_blocks);
    CHECK(n_of(series) == 600 + 3500 + 2200);
    const auto seconds = series.by_second();
    REQUIRE(seconds.blocks().size() >= 35);
    REQUIRE(seconds.blocks().size() <= 36);
    CHECK(seconds.blocks()[5].stages[0].n() == 100);
    CHECK(seconds.blocks()[17].stages[0].n() == 200);
    CHECK(seconds.blocks()[31].stages[0].n() == 300);
    for (std::size_t i = 1; i < seconds.blocks().size(); ++i)
        CHECK(seconds.blocks()[i].start_ns - seconds.blocks()[i - 1].start_ns == second);
}

TEST_CASE("the first record may be the last one of all time") {
    Series series(1);
    for (const auto time :
         {std::numeric_limits<std::int64_t>::max(), std::int64_t{0}, std::numeric_limits<std::int64_t>::min()})
        series.at(time).stages[0].add(3);
    CHECK(n_of(series) == 3);
    CHECK(series.blocks().size() <= Series::max_blocks);
}

TEST_CASE("a record that comes late counts in its own block, one from shortly before the first in the first") {
    Series series(1);
    series.at(5 * second).stages[0].add(3);
    series.at(9 * second).stages[0].add(5);
    series.at(6 * second).stages[0].add(7);
    series.at(4 * second + 7).stages[0].add(11);
    const auto seconds = series.by_second();
    CHECK(seconds.blocks()[1].stages[0].max() == 7);
    CHECK(seconds.blocks()[0].stages[0].n() == 2);
    CHECK(seconds.blocks()[0].stages[0].max() == 11);
}

TEST_CASE("a long measurement has longer blocks, not more, and loses nothing") {
    Series series(2);
    for (std::int64_t i = 0; i < 1009; ++i)
        series.at(i * second + 3).stages[static_cast<std::size_t>(i % 2)].add(i);
    CHECK(series.block_ns() == 4 * second);
    CHECK(series.blocks().size() == 253);
    CHECK(n_of(series) == 1009);
    CHECK(series.blocks()[1].stages[0].min() == 4);
    CHECK(series.blocks()[1].stages[1].max() == 7);
}

TEST_CASE("many wide stages have longer blocks, so that their histograms keep within bounds") {
    Series series(23);
    constexpr std::int64_t seconds = 509;
    for (std::int64_t i = 0; i < seconds; ++i) {
        for (auto& stage : series.at(i * second).stages) {
            for (int doubling = 9; doubling < 40; ++doubling)
                stage.add(std::int64_t{1} << doubling);
        }
        if (i % 13 == 0) CHECK(series.by_second().blocks().size() <= Series::min_blocks + 1);
    }
    CHECK(series.block_ns() == 16 * second);
    CHECK(n_of(series) == seconds * 23 * 31);
}

TEST_CASE("times at the ends of the clock do no harm") {
    Series series(1);
    series.at(0).stages[0].add(1);
    series.at(std::numeric_limits<std::int64_t>::max()).stages[0].add(2);
    series.at(std::numeric_limits<std::int64_t>::min()).stages[0].add(3);
    CHECK(n_of(series) == 3);
    CHECK(series.blocks().size() <= Series::max_blocks);
    series.shift(std::numeric_limits<std::int64_t>::max());
    CHECK(n_of(series) == 3);
}

TEST_CASE("two measurements are one series in order of time, at the coarser length") {
    Series early(1), late(1);
    late.coarsen(2 * second);
    early.coarsen(second);
    for (std::int64_t i = 0; i < 7; ++i)
        early.at(i * second).stages[0].add(i);
    for (std::int64_t i = 0; i < 3; ++i)
        late.at(101 * second + i * 2 * second).stages[0].add(100 + i);
    late += early;
    CHECK(late.block_ns() == 2 * second);
    REQUIRE(late.blocks().size() == 7);
    CHECK(late.blocks()[0].stages[0].n() == 2);
    CHECK(late.blocks()[3].stages[0].n() == 1);
    CHECK(late.blocks()[4].start_ns == 101 * second);
    CHECK(n_of(late) == 10);
}
