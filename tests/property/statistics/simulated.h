// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "unit/compared.h"

/// Latencies whose distribution is known: the body is lognormal around a microsecond or more, and one in seven has an
/// exponential delay on top of it, as those that met a busy CPU.
class Latencies {
  public:
    explicit Latencies(std::uint64_t seed) : random_(seed) {
        // A fixed table of quantiles: a draw is one look-up, and the same on every machine.
        std::mt19937_64 fixed(7);
        for (auto& value : table_) {
            const double body = 2000 * std::exp(0.3 * normal(fixed));
            const double queued = unit(fixed) < 1.0 / 7 ? -9000 * std::log(unit(fixed)) : 0;
            value = body + queued;
        }
    }

    double next() { return table_[random_() % table_.size()]; }
    double normal() { return normal(random_); }
    std::uint64_t below(std::uint64_t end) { return random_() % end; }

  private:
    static double unit(std::mt19937_64& random) { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; }
    static double normal(std::mt19937_64& random) {
        return std::sqrt(-2 * std::log(unit(random))) * std::cos(2 * 3.14159265358979 * unit(random));
    }

    std::mt19937_64 random_;
    std::array<double, 1 << 16> table_{};
};

/// A recording to simulate.
struct Plan {
    int seconds = 60;
    int per_second = 1000;
    int stages = 4;
    double load_spread = 0.3;     ///< standard deviation of the logarithm of how many there are in a second
    double correlation = 0;       ///< of the speed of a second with that of the one before it
    double speed_spread = 0;      ///< standard deviation of the logarithm of a second's speed
    double recording_spread = 0;  ///< and of a whole recording's
    double tail_shift = 0;        ///< of p99 of stage 1: 0.05 makes it 5 % longer, and p50 stays
};

inline stapgen::summaries::Summary simulate(const Plan& plan, std::uint64_t seed) {
    using namespace stapgen::summaries;
    using namespace stapgen::study;
    // Quantiles of the table, found by sorting it once: from p95 on the tail is stretched.
    constexpr double stretched_from = 0.95;
    static const auto marks = [] {
        Latencies source(1);
        std::vector<double> values(1 << 20);
        for (auto& value : values)
            value = source.next();
        std::sort(values.begin(), values.end());
        const auto at = [&](double part) {
            return values[static_cast<std::size_t>(part * static_cast<double>(values.size()))];
        };
        return std::array{at(stretched_from), at(0.99)};
    }();
    const double stretch = 1 + plan.tail_shift * marks[1] / (marks[1] - marks[0]);

    Latencies source(seed);
    Summary summary;
    summary.recipe = "rx-latency";
    summary.series = Series(static_cast<std::size_t>(plan.stages));
    for (int i = 0; i < plan.stages; ++i)
        summary.stages.push_back({"stage" + std::to_string(i), {}, {}});
    const double whole = std::exp(plan.recording_spread * source.normal());
    double drift = source.normal();
    for (int second = 0; second < plan.seconds; ++second) {
        const double count = plan.per_second * std::exp(plan.load_spread * source.normal());
        drift = plan.correlation * drift + std::sqrt(1 - plan.correlation * plan.correlation) * source.normal();
        const double slowness = whole * std::exp(plan.speed_spread * drift);
        auto& block = summary.series.at(second * 1'000'000'000LL + 1);
        for (int i = 0; i < static_cast<int>(count); ++i) {
            for (int stage = 0; stage < plan.stages; ++stage) {
                double value = source.next();
                if (stage == 1 && plan.tail_shift != 0 && value > marks[0])
                    value = marks[0] + (value - marks[0]) * stretch;
                block.stages[static_cast<std::size_t>(stage)].add(static_cast<std::int64_t>(value * slowness));
            }
        }
    }
    for (const auto& block : summary.series.blocks()) {
        for (std::size_t stage = 0; stage < block.stages.size(); ++stage)
            summary.stages[stage].stats += block.stages[stage];
    }
    summary.accounting.closed = true;
    return summary;
}
