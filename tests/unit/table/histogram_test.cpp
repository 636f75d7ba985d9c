// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/histogram.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace stapgen::table;

namespace {

std::vector<std::int64_t> latencies(std::size_t n, double scale) {
    std::mt19937_64 random(n);
    std::lognormal_distribution<double> distribution(std::log(scale), 1.5);
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < n; ++i)
        values.push_back(static_cast<std::int64_t>(distribution(random)));
    return values;
}

Histogram histogram_of(const std::vector<std::int64_t>& values) {
    Histogram histogram;
    for (const auto value : values)
        histogram.add(value);
    return histogram;
}

std::int64_t exact_percentile(std::vector<std::int64_t> values, double percent) {
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(nearest_rank(std::ssize(values), percent)) - 1];
}

}  // namespace

TEST_CASE("an empty histogram has no numbers") {
    const Histogram empty;
    CHECK(empty.n() == 0);
    CHECK_FALSE(empty.min());
    CHECK_FALSE(empty.max());
    CHECK_FALSE(empty.mean());
    CHECK_FALSE(empty.stddev());
    CHECK_FALSE(empty.percentile(50));
    CHECK_FALSE(empty.confidence(50));
}

TEST_CASE("one value is minimum, mean and maximum, but no percentile") {
    const auto one = histogram_of({112'447});
    CHECK(one.n() == 1);
    CHECK(one.min() == 112'447);
    CHECK(one.max() == 112'447);
    CHECK(one.mean() == 112'447.0);
    CHECK_FALSE(one.stddev());
    CHECK_FALSE(one.percentile(50));
    CHECK(one.value_at(1) == 112'447);
}

TEST_CASE("percentiles differ from sorting by no more than the stated error") {
    for (const double scale : {30.0, 4001.0, 1e6, 3e9}) {
        for (const std::size_t n : {1009U, 4001U, 65537U}) {
            const auto values = latencies(n, scale);
            const auto histogram = histogram_of(values);
            for (const double percent : {1.0, 10.0, 50.0, 90.0, 99.0}) {
                CAPTURE(scale);
                CAPTURE(n);
                CAPTURE(percent);
                const auto exact = static_cast<double>(exact_percentile(values, percent));
                const auto found = histogram.percentile(percent);
                REQUIRE(found);
                CHECK(std::abs(static_cast<double>(*found) - exact) <= exact * relative_error);
            }
        }
    }
}

TEST_CASE("small numbers have exact percentiles") {
    const auto values = latencies(1009, 100);
    const auto histogram = histogram_of(values);
    REQUIRE(exact_percentile(values, 50) < 512);
    CHECK(histogram.percentile(50) == exact_percentile(values, 50));
    CHECK(histogram.percentile(10) == exact_percentile(values, 10));
}

TEST_CASE("n, minimum, maximum, mean and standard deviation are exact") {
    const auto values = latencies(1009, 4001);
    const auto histogram = histogram_of(values);
    long double sum = 0;
    for (const auto value : values)
        sum += static_cast<long double>(value);
    const long double mean = sum / 1009;
    long double squares = 0;
    for (const auto value : values)
        squares += (static_cast<long double>(value) - mean) * (static_cast<long double>(value) - mean);
    CHECK(histogram.n() == 1009);
    CHECK(histogram.min() == *std::ranges::min_element(values));
    CHECK(histogram.max() == *std::ranges::max_element(values));
    CHECK(*histogram.mean() == doctest::Approx(static_cast<double>(mean)).epsilon(1e-14));
    CHECK(*histogram.stddev() == doctest::Approx(static_cast<double>(std::sqrt(squares / 1008))).epsilon(1e-12));
}

TEST_CASE("a narrow spread on a large mean keeps its standard deviation") {
    Histogram histogram;
    for (int i = 0; i < 1009; ++i)
        histogram.add(1'000'000'000'000 + i % 3);
    double squares = 0;
    const double mean = (337 * 0 + 336 * 1 + 336 * 2) / 1009.0;
    for (int i = 0; i < 1009; ++i)
        squares += (i % 3 - mean) * (i % 3 - mean);
    CHECK(*histogram.stddev() == doctest::Approx(std::sqrt(squares / 1008)).epsilon(1e-12));
}

TEST_CASE("the histograms of parts add up to that of the whole") {
    const auto values = latencies(4001, 4001);
    const auto whole = histogram_of(values);
    Histogram merged;
    for (std::size_t part = 0; part < 3; ++part) {
        Histogram of_part;
        for (std::size_t i = part; i < values.size(); i += 3)
            of_part.add(values[i]);
        merged += of_part;
    }
    merged += Histogram();
    CHECK(merged.n() == whole.n());
    CHECK(merged.min() == whole.min());
    CHECK(merged.max() == whole.max());
    CHECK(merged.mean() == whole.mean());
    CHECK(merged.stddev() == whole.stddev());
    for (std::int64_t rank = 1; rank <= whole.n(); rank += 13) {
        CAPTURE(rank);
        CHECK(merged.value_at(rank) == whole.value_at(rank));
    }
}

TEST_CASE("squares of values of 2^47 and more add up, too") {
    constexpr std::int64_t unit = std::int64_t{1} << 47U;
    for (const std::int64_t sign : {1, -1}) {
        auto sum = histogram_of({sign * unit, sign * 3 * unit});
        sum += histogram_of({sign * 5 * unit, 7});
        const auto whole = histogram_of({sign * unit, sign * 3 * unit, sign * 5 * unit, 7});
        // 1, 3, 5 and 0 are 14 / 3 from their mean, squared.
        CHECK(*sum.stddev() == doctest::Approx(std::sqrt(59.0 / 12) * static_cast<double>(unit)).epsilon(1e-12));
        CHECK(sum.stddev() == whole.stddev());
    }
}

TEST_CASE("a histogram added to itself counts everything twice") {
    auto histogram = histogram_of(latencies(1009, 4001));
    const auto median = histogram.percentile(50);
    histogram += histogram;
    CHECK(histogram.n() == 2018);
    CHECK(histogram.percentile(50) == median);
}

TEST_CASE("a copy does not change with its original") {
    auto histogram = histogram_of({3, 5, 7, 11, 13, 17, 19});
    const Histogram copy = histogram;
    for (int i = 0; i < 1009; ++i)
        histogram.add(1'000'003);
    CHECK(copy.n() == 7);
    CHECK(copy.percentile(50) == 11);
    CHECK(copy.max() == 19);
}

TEST_CASE("the 99th percentile appears with the 368th value and lies between minimum and maximum") {
    Histogram histogram;
    for (int i = 0; i < 367; ++i)
        histogram.add(1009);
    CHECK_FALSE(histogram.percentile(99));
    CHECK_FALSE(histogram.confidence(99));
    histogram.add(1009);
    CHECK(histogram.percentile(99) == 1009);
    CHECK(histogram.confidence(99)->low == 1009);
    CHECK(histogram.confidence(99)->high == 1009);
    CHECK_FALSE(histogram.percentile(99.9));
}

TEST_CASE("numbers beyond the bins still count") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    Histogram histogram;
    for (int i = 0; i < 5; ++i)
        histogram.add(-7);
    for (int i = 0; i < 7; ++i)
        histogram.add(most);
    CHECK(histogram.n() == 12);
    CHECK(histogram.min() == -7);
    CHECK(histogram.max() == most);
    CHECK(histogram.value_at(3) == -7);
    CHECK(histogram.value_at(7) == most);
    CHECK(*histogram.mean() == doctest::Approx(9.223372036854775807e18 * 7 / 12));
    CHECK(*histogram.stddev() == doctest::Approx(9.223372036854775807e18 * std::sqrt(7.0 * 5 / 12 / 11)));
}

TEST_CASE("every doubling keeps the stated error at its borders") {
    for (int bit = 0; bit < 41; ++bit) {
        for (const std::int64_t offset : {-1, 0, 1}) {
            const std::int64_t value = (std::int64_t{1} << bit) + offset;
            CAPTURE(value);
            const auto histogram = histogram_of({0, value, Histogram::largest_binned});
            const auto found = static_cast<double>(histogram.value_at(2));
            CHECK(std::abs(found - static_cast<double>(value)) <= static_cast<double>(value) * relative_error);
        }
    }
    const auto top = histogram_of({0, Histogram::largest_binned, Histogram::largest_binned + 1});
    CHECK(top.value_at(2) == doctest::Approx(static_cast<double>(Histogram::largest_binned)).epsilon(relative_error));
    CHECK(top.value_at(2) < Histogram::largest_binned);
}

TEST_CASE("values that were measured in microseconds have percentiles in microseconds") {
    Histogram histogram;
    for (std::int64_t us = 1; us <= 1009; ++us)
        histogram.add(us * 1000);
    histogram.set_resolution(1000);
    CHECK(histogram.percentile(50) == 505'000);
    for (const double percent : {1.0, 10.0, 90.0, 97.0}) {
        CHECK(histogram.percentile(percent).value() % 1000 == 0);
        CHECK(std::abs(static_cast<double>(*histogram.percentile(percent)) /
                           static_cast<double>(1000 * nearest_rank(1009, percent)) -
                       1) < 0.005);
    }
    Histogram copy;
    copy += histogram;
    CHECK(copy.percentile(50) == 505'000);
}
