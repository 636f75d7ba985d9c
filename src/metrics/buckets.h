// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "metrics/family.h"

/// Our bins as buckets of other histograms. Each bin falls into one bucket, whatever else is in the histogram: buckets
/// of a sum are the sum of buckets.
namespace stapgen::metrics {

/// How many classic buckets a histogram can have: one to two doublings, from 1 us to 4.29 s; and one, two or four to a
/// doubling, to 68.7 s.
inline constexpr std::array<std::size_t, 4> classic_sizes{12, 27, 53, 105};

/// Of what a scraper reads.
inline constexpr std::size_t scraped_buckets = 53;

/// The upper ends of classic buckets in ns, inclusive, the same in every run: of these sizes the largest that is not
/// above `most`, else the smallest. Each end is one below a border of bins.h, so that the counts are exact, and is in
/// all larger sizes, too.
std::span<const std::int64_t> classic_ends(std::size_t most);

/// How many values are at or below each end.
std::vector<std::int64_t> classic_counts(const Histogram& histogram, std::span<const std::int64_t> ends);

/// Exponential buckets, in seconds: that of index i holds what is above base^i and up to base^(i+1), where base is
/// 2^(2^-scale). OpenTelemetry numbers them so; of Prometheus' native histograms it is the bucket i + 1, for it calls
/// them by their upper end. Of each bin the middle counts. At scale 9 no two bins share a bucket; what is beyond all
/// bins counts in the bucket of the lowest such number.
struct ExponentialBuckets {
    std::map<int, std::int64_t> counts;
    std::int64_t zero = 0;  ///< what is 0, or negative
};
ExponentialBuckets exponential_buckets(const Histogram& histogram, int scale);
/// That of a number above 0.
int exponential_index(std::int64_t ns, int scale);

}  // namespace stapgen::metrics
