// SPDX-License-Identifier: GPL-2.0-or-later

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "rounds.h"
#include "table/histogram.h"

using namespace stapgen;

namespace {

constexpr double mean_ns = 100'000;

/// Exponential, so that its percentiles are known: -mean ln(1 - p).
std::int64_t draw(std::mt19937_64& random) {
    const double part = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
    return std::llround(-mean_ns * std::log(part));
}

double true_percentile(double percent) {
    return -mean_ns * std::log1p(-percent / 100);
}

}  // namespace

TEST_CASE("percentiles are within the stated error of the sample's own, and parts add up to the whole") {
    std::mt19937_64 random(11);
    std::vector<std::int64_t> values(100'003);
    table::Histogram whole;
    std::vector<table::Histogram> parts(7);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = draw(random);
        whole.add(values[i]);
        parts[i % 5 + i % 3].add(values[i]);
    }
    std::ranges::sort(values);
    table::Histogram merged;
    for (const auto& part : parts)
        merged += part;
    CHECK(merged.n() == whole.n());
    CHECK(merged.mean() == whole.mean());
    CHECK(merged.stddev() == whole.stddev());
    for (const double percent : {1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 99.99}) {
        CAPTURE(percent);
        const auto rank = table::nearest_rank(whole.n(), percent);
        const auto exact = static_cast<double>(values[static_cast<std::size_t>(rank) - 1]);
        CHECK(std::abs(static_cast<double>(*whole.percentile(percent)) - exact) <= exact * table::relative_error);
        CHECK(merged.percentile(percent) == whole.percentile(percent));
        CHECK(merged.confidence(percent)->low == whole.confidence(percent)->low);
        CHECK(merged.confidence(percent)->high == whole.confidence(percent)->high);
    }
}

TEST_CASE("the interval of a percentile holds the true one in 95 % of 1000 samples") {
    constexpr int samples = 1000;
    const int least = at_least(samples, 95);
    std::mt19937_64 random(13);
    for (const int n : {401, 1009, 4001}) {
        std::vector<int> held(3);
        const std::vector<double> percents = {50, 90, 99};
        for (int sample = 0; sample < samples; ++sample) {
            table::Histogram histogram;
            for (int i = 0; i < n; ++i)
                histogram.add(draw(random));
            for (std::size_t k = 0; k < percents.size(); ++k) {
                const auto interval = *histogram.confidence(percents[k]);
                const double truth = true_percentile(percents[k]);
                if (truth >= static_cast<double>(interval.low) * (1 - table::relative_error) &&
                    truth <= static_cast<double>(interval.high) * (1 + table::relative_error)) {
                    ++held[k];
                }
            }
        }
        for (std::size_t k = 0; k < percents.size(); ++k) {
            CAPTURE(n);
            CAPTURE(percents[k]);
            MESSAGE("n ", n, ", percentile ", percents[k], ": held in ", held[k], " of ", samples);
            CHECK(held[k] >= least);
            CHECK(held[k] < samples);  // one that always holds it would say nothing
        }
    }
}
