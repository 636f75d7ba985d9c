// SPDX-License-Identifier: GPL-2.0-or-later
#include "metrics/buckets.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stapgen::metrics {

namespace bins = table::bins;

std::span<const std::int64_t> classic_ends(std::size_t most) {
    static const auto all = [] {
        constexpr std::int64_t first = 1 << 10;
        constexpr std::array steps{2 * bins::per_doubling, bins::per_doubling, bins::per_doubling / 2,
                                   bins::per_doubling / 4};
        std::array<std::vector<std::int64_t>, classic_sizes.size()> ends;
        for (std::size_t i = 0; i < ends.size(); ++i) {
            for (int bin = bins::index_of(first); ends.at(i).size() < classic_sizes.at(i); bin += steps.at(i))
                ends.at(i).push_back(bins::lowest(bin) - 1);
        }
        return ends;
    }();
    const auto above = std::ranges::upper_bound(classic_sizes, most) - classic_sizes.begin();
    return all.at(static_cast<std::size_t>(std::max<std::ptrdiff_t>(above - 1, 0)));
}

std::vector<std::int64_t> classic_counts(const Histogram& histogram, std::span<const std::int64_t> ends) {
    std::vector<std::int64_t> counts(ends.size());
    histogram.for_each_bin([&](int bin, std::int64_t count) {
        const auto bucket = std::ranges::lower_bound(ends, bins::lowest(bin + 1) - 1);
        if (bucket != ends.end()) counts[static_cast<std::size_t>(bucket - ends.begin())] += count;
    });
    std::int64_t sum = histogram.below();
    for (auto& count : counts)
        count = sum += count;
    return counts;
}

int exponential_index(std::int64_t ns, int scale) {
    // The ends that are whole numbers are powers of two of a second, which these are exact for; the others are
    // irrational.
    const auto power = std::log2(static_cast<long double>(ns) / 1'000'000'000);
    return static_cast<int>(std::ceil(std::ldexp(power, scale))) - 1;
}

ExponentialBuckets exponential_buckets(const Histogram& histogram, int scale) {
    ExponentialBuckets buckets;
    buckets.zero = histogram.below();
    const auto add = [&](std::int64_t ns, std::int64_t count) {
        (ns == 0 ? buckets.zero : buckets.counts[exponential_index(ns, scale)]) += count;
    };
    histogram.for_each_bin([&](int bin, std::int64_t count) { add(bins::middle(bin), count); });
    if (histogram.above() > 0) add(bins::largest + 1, histogram.above());
    return buckets;
}

}  // namespace stapgen::metrics
