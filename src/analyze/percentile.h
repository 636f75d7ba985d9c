#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::analyze {

/// A percentile as the user typed it: reports use `text` as the key, so "99.90" stays "99.90".
struct Percentile {
    std::string text;
    double percent = 0;  ///< 0 < percent < 100
};

/// "50,90,99,99.9", in the order given. Each above 0 and below 100, none twice.
base::Result<std::vector<Percentile>> parse_percentiles(std::string_view text);

/// 50, 90, 99 and 99.9: what is shown where the user does not say.
std::vector<Percentile> default_percentiles();

/// Ranks, counted from 1, of a sorted sample.
struct Ranks {
    std::int64_t low = 0;
    std::int64_t high = 0;
};

/// The order statistics that hold the true percentile between them with at least 95 % confidence, at most
/// 2.5 % on either side, whatever the distribution: the binomial interval (David and Nagaraja, Order
/// Statistics, 7.1). Nothing where `n` is too small for one. The values must be independent of each other for
/// the 95 % to hold; latencies of neighbouring packets often are not, so take it as a lower bound of doubt.
std::optional<Ranks> confidence_ranks(std::int64_t n, double percent);

/// The smallest n for which confidence_ranks() exists: 6 for the median, 36 for 90, 368 for 99, 3688
/// for 99.9. With fewer values a percentile is not stated.
std::int64_t values_needed(double percent);

/// The rank of the percentile itself: the smallest one with at least `percent` of all values at or below it.
std::int64_t nearest_rank(std::int64_t n, double percent);

}  // namespace stapgen::analyze
