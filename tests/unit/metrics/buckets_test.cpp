// SPDX-License-Identifier: GPL-2.0-or-later
#include "metrics/buckets.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <utility>

using namespace stapgen::metrics;
namespace bins = stapgen::table::bins;

namespace {

constexpr std::int64_t second = 1'000'000'000;

/// The lower and the upper end of a bucket, ns.
std::pair<double, double> ends_of(int index, int scale) {
    return {1e9 * std::exp2(std::ldexp(index, -scale)), 1e9 * std::exp2(std::ldexp(index + 1, -scale))};
}

struct Errors {
    double worst = 0;        ///< how far an end of a value's bucket is from the value, as a part of it
    std::size_t shared = 0;  ///< bins that fell into a bucket of a bin before
};

Errors errors_at(int scale) {
    Errors errors;
    std::set<int> used;
    for (int bin = 1; bin < bins::count; ++bin) {
        const int index = exponential_index(bins::middle(bin), scale);
        errors.shared += used.insert(index).second ? 0 : 1;
        const auto [low, high] = ends_of(index, scale);
        for (const auto value : {bins::lowest(bin), bins::lowest(bin + 1) - 1}) {
            for (const auto end : {low, high})
                errors.worst = std::max(errors.worst, std::abs(end / static_cast<double>(value) - 1));
        }
    }
    return errors;
}

Histogram random_histogram(unsigned seed, int n) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> distribution(std::log(7e4), 2.5);
    Histogram histogram;
    for (int i = 0; i < n; ++i)
        histogram.add(static_cast<std::int64_t>(distribution(random)));
    histogram.add(0);
    histogram.add(-3);
    histogram.add(bins::largest + 7);
    return histogram;
}

std::map<int, std::int64_t> sum_of(std::map<int, std::int64_t> counts, const std::map<int, std::int64_t>& more) {
    for (const auto& [index, count] : more)
        counts[index] += count;
    return counts;
}

}  // namespace

TEST_CASE("all bins as exponential buckets: how far off they are, and how many share one") {
    const auto coarse = errors_at(5), fine = errors_at(8), lossless = errors_at(9);
    CHECK(coarse.worst < 0.0236);
    CHECK(coarse.worst > 0.0235);
    CHECK(coarse.shared == 7522);
    CHECK(fine.worst < 0.00465);
    CHECK(fine.worst > 0.0046);
    CHECK(fine.shared == 726);
    CHECK(lossless.worst < 0.0033);
    CHECK(lossless.worst > 0.0032);
    CHECK(lossless.shared == 0);
}

TEST_CASE("each middle lies in its exponential bucket, the upper end included") {
    for (const int scale : {-4, 0, 3, 5, 8, 9}) {
        for (int bin = 1; bin < bins::count; ++bin) {
            const auto value = static_cast<long double>(bins::middle(bin)) / second;
            const int index = exponential_index(bins::middle(bin), scale);
            CHECK(value > std::exp2(std::ldexp(static_cast<long double>(index), -scale)));
            CHECK(value <= std::exp2(std::ldexp(static_cast<long double>(index + 1), -scale)));
        }
    }
    // The powers of two of a second that are whole ns.
    for (const int scale : {0, 5, 8, 9}) {
        for (int power = -9; power <= 11; ++power) {
            const auto end = power < 0 ? second >> -power : second << power;
            CHECK(exponential_index(end, scale) == (power << scale) - 1);
            CHECK(exponential_index(end + 1, scale) == power << scale);
        }
    }
}

TEST_CASE("buckets of a sum are the sum of buckets") {
    const auto one = random_histogram(1, 1009), other = random_histogram(2, 211);
    auto both = one;
    both += other;
    for (const int scale : {5, 8, 9}) {
        const auto a = exponential_buckets(one, scale), b = exponential_buckets(other, scale);
        const auto sum = exponential_buckets(both, scale);
        CHECK(sum.counts == sum_of(a.counts, b.counts));
        CHECK(sum.zero == a.zero + b.zero);
        std::int64_t n = sum.zero;
        for (const auto& [index, count] : sum.counts)
            n += count;
        CHECK(n == both.n());
    }
    for (const auto size : classic_sizes) {
        const auto ends = classic_ends(size);
        const auto a = classic_counts(one, ends), b = classic_counts(other, ends), sum = classic_counts(both, ends);
        for (std::size_t i = 0; i < ends.size(); ++i)
            CHECK(sum[i] == a[i] + b[i]);
    }
}

TEST_CASE("each bin can be told from its bucket at the scale of OpenTelemetry") {
    std::map<int, int> bin_of;
    for (int bin = 1; bin < bins::count; ++bin)
        bin_of.emplace(exponential_index(bins::middle(bin), 9), bin);
    const auto histogram = random_histogram(3, 503);
    const auto buckets = exponential_buckets(histogram, 9);
    std::map<int, std::int64_t> again, truth;
    for (const auto& [index, count] : buckets.counts) {
        if (const auto found = bin_of.find(index); found != bin_of.end()) again[found->second] = count;
    }
    histogram.for_each_bin([&](int bin, std::int64_t count) {
        if (bin > 0) truth[bin] = count;
    });
    CHECK(again == truth);
    CHECK(buckets.zero == 2);
}

TEST_CASE("classic buckets are one, two or four to a doubling, or one to two, each one below a border of the bins") {
    for (const std::size_t per_doubling : {1, 2, 4}) {
        const auto ends = classic_ends(26 * per_doubling + 1);
        CHECK(ends.size() == 26 * per_doubling + 1);
        CHECK(ends.front() == 1023);
        CHECK(ends.back() == 68'719'476'735);
    }
    const auto few = classic_ends(12);
    CHECK(few.size() == 12);
    CHECK(few.back() == 4'294'967'295);
    for (std::size_t i = 0; i < few.size(); ++i)
        CHECK(few[i] + 1 == std::int64_t{1024} << (2 * i));
    const auto all = classic_ends(105);
    for (const auto size : classic_sizes) {
        for (const auto end : classic_ends(size)) {
            CHECK(bins::index_of(end) + 1 == bins::index_of(end + 1));
            CHECK(std::ranges::binary_search(all, end));
        }
    }
}

TEST_CASE("there are no more classic buckets than asked for, but the fewest there are") {
    const std::pair<std::size_t, std::size_t> asked[]{{0, 12}, {12, 12}, {26, 12}, {27, 27}, {104, 53}, {1000, 105}};
    for (const auto& [most, size] : asked)
        CHECK(classic_ends(most).size() == size);
}

TEST_CASE("a value at the end of a classic bucket is in it, the next number is not") {
    Histogram histogram;
    for (const std::int64_t value : {-3, 0, 1023, 1024, 1535, 1536})
        histogram.add(value);
    const auto counts = classic_counts(histogram, classic_ends(53));
    CHECK(counts[0] == 3);
    CHECK(counts[1] == 5);
    CHECK(counts[2] == 6);
    CHECK(counts.back() == 6);
}
