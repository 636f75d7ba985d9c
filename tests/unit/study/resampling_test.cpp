// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/resampling.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace stapgen;
using namespace stapgen::study;

namespace {

/// Blocks of `n` values of one size each.
std::vector<table::Histogram> blocks_of(const std::vector<std::int64_t>& values, std::int64_t n = 10) {
    std::vector<table::Histogram> blocks(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        blocks[i].add(values[i], n);
    return blocks;
}

Resampling resampling_of(const std::vector<table::Histogram>& blocks, bool follows = true) {
    Resampling resampling;
    for (const auto& block : blocks)
        resampling.add(block, follows);
    return resampling;
}

/// 0, 0, 0, 0, 1, 1, 1, 1, 0, ...: neighbours are mostly alike.
std::vector<std::int64_t> in_runs(std::int64_t low, std::int64_t high) {
    std::vector<std::int64_t> values;
    for (int i = 0; i < 64; ++i)
        values.push_back(i / 4 % 2 == 0 ? low : high);
    return values;
}

}  // namespace

TEST_CASE("blocks of unequal sizes count as fewer, and empty ones not at all") {
    Resampling resampling;
    CHECK(resampling.effective_blocks() == 0);
    table::Histogram few, many;
    few.add(1009, 10);
    many.add(1009, 30);
    resampling.add(few, false);
    resampling.add(table::Histogram(), true);
    CHECK(resampling.effective_blocks() == 1);
    resampling.add(many, true);
    CHECK(resampling.n() == 40);
    CHECK(resampling.effective_blocks() == doctest::Approx(1.6));  // 40 * 40 / (10 * 10 + 30 * 30)
}

TEST_CASE("the error of a mean is that of its blocks") {
    std::vector<std::int64_t> values;
    for (int i = 0; i < 64; ++i)
        values.push_back(i % 2 == 0 ? 1001 : 1101);
    const auto blocks = blocks_of(values);
    const auto mean = resampling_of(blocks).estimates({}, 4000, 1).front();
    CHECK(mean.value == 1051);
    // Neighbours that differ more than others widen nothing.
    CHECK(mean.degrees == 63);
    // 50 on either side of 1051; 64 blocks, of which one is in the mean.
    CHECK(mean.log_error == doctest::Approx(50.0 / 1051 / std::sqrt(63.0)).epsilon(0.05));
}

TEST_CASE("blocks that are like their neighbours count as fewer, where one follows the other") {
    const auto blocks = blocks_of(in_runs(1001, 1101));
    const auto apart = resampling_of(blocks, false).estimates({}, 1000, 1).front();
    const auto joined = resampling_of(blocks).estimates({}, 1000, 1).front();
    CHECK(apart.degrees == 63);
    // Of 63 pairs 48 are alike and 15 are not: r is 33 / 63, and (1 + 3 r) / 64 more.
    const double r = 33.0 / 63 + (1 + 3 * 33.0 / 63) / 64, independent = (1 - r) / (1 + r);
    CHECK(joined.degrees == doctest::Approx(64 * independent - 1));
    CHECK(joined.log_error == doctest::Approx(apart.log_error / std::sqrt(independent)));
}

TEST_CASE("percentiles are in the order that was asked for, and there is one degree of freedom at least") {
    const auto blocks = blocks_of({101, 102, 103, 104, 105, 106, 107, 108, 109, 110});
    const auto estimates = resampling_of(blocks, false).estimates({90, 50}, 10, 1);
    REQUIRE(estimates.size() == 3);
    CHECK(estimates[1].value == 109);
    CHECK(estimates[2].value == 105);
    const auto one = blocks_of({1009});
    CHECK(resampling_of(one).estimates({}, 10, 1).front().degrees == 1);
}
