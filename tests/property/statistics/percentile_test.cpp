// SPDX-License-Identifier: GPL-2.0-or-later

#include <doctest/doctest.h>

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
