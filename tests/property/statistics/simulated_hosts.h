// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "study/outliers.h"
#include "unit/compared.h"

/// Hosts that differ as hosts do.
struct Fleet {
    using Levels = std::map<std::string, std::string>;

    std::size_t hosts = 4, stages = 5;
    int values = 1009;
    double between = 0.2;  ///< standard deviation of the logarithm from host to host
    double alike = 0.5;    ///< how much of its square the stages of a host have in common
    /// How many times as long a host's first stage takes.
    std::function<double(std::size_t host)> slower = [](std::size_t) { return 1.0; };
    /// Its kernel and labels; it is compared with those who have the same.
    std::function<Levels(std::size_t host)> levels = [](std::size_t) { return Levels(); };
    /// How many times `between` it varies by.
    std::function<double(std::size_t host)> unrest = [](std::size_t) { return 1.0; };
};

/// Durations of a level of 1, in a table: a draw is one look-up.
inline double next_duration(std::mt19937_64& random) {
    static const auto table = [] {
        std::mt19937_64 fixed(7);
        std::normal_distribution<> normal;
        std::vector<double> made(1 << 16);
        for (auto& value : made)
            value = std::exp(0.7 * normal(fixed));
        return made;
    }();
    return table[random() % table.size()];
}

inline std::vector<stapgen::study::Member> make(const Fleet& fleet, std::mt19937_64& random) {
    std::normal_distribution<> normal;
    std::vector<stapgen::study::Member> members(fleet.hosts);
    for (std::size_t host = 0; host < fleet.hosts; ++host) {
        auto& member = members[host];
        member.name = fmt::format("web{}", host);
        member.levels = fleet.levels(host);
        if (!member.levels.empty()) member.cohorts = {fmt::format("{}", fmt::join(member.levels, ", "))};
        member.cohorts.emplace_back("all");
        const double between = fleet.between * fleet.unrest(host);
        const double common = normal(random) * std::sqrt(fleet.alike);
        for (std::size_t stage = 0; stage < fleet.stages; ++stage) {
            const double own = normal(random) * std::sqrt(1 - fleet.alike);
            double level = 20'000 * std::exp(between * (common + own));
            if (stage == 0) level *= fleet.slower(host);
            auto& measure = member.stages.emplace_back(stapgen::study::Stage{fmt::format("stage{}", stage)});
            for (int i = 0; i < fleet.values; ++i)
                measure.stats.add(static_cast<std::int64_t>(level * next_duration(random)));
        }
    }
    return members;
}
