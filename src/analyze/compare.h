#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/percentile.h"
#include "analyze/summary.h"
#include "base/result.h"

namespace stapgen::analyze {

enum class Verdict {
    same,  ///< `~`: the confidence interval of the change holds 0, or the change is below the threshold
    slower,
    faster,
    too_few,  ///< too few values or blocks to tell
};

/// One stage and statistic, before and after.
struct Change {
    std::string stage;
    std::string statistic;  ///< "mean", or the percentile as typed: "99.9"
    std::int64_t n_before = 0, n_after = 0;
    std::optional<double> before_ns, after_ns;
    std::optional<double> change;     ///< after / before - 1
    std::optional<double> low, high;  ///< its 95 % confidence interval, not corrected for the number of tests
    std::optional<double> p;          ///< of "no change", corrected by Holm over all rows
    Verdict verdict = Verdict::too_few;
};

struct CompareOptions {
    std::vector<Percentile> percentiles = default_percentiles();
    double threshold = 0.05;  ///< a change below this part is never a regression
    int resamples = 2000;
    std::uint64_t seed = 1;  ///< of the resampling: the same input gives the same answer
};

struct Comparison {
    std::string recipe;
    std::vector<Change> changes;  ///< by stage in recipe order, then mean, then percentiles
    std::vector<std::string> warnings;
    std::int64_t block_ns = 0;
    std::size_t blocks_before = 0, blocks_after = 0;
    double threshold = 0;

    [[nodiscard]] bool has_regression() const;
};

/// Error (bad_input): the two cannot be compared: other recipes, resolutions or truncation.
base::Result<Comparison> compare(const Summary& before, const Summary& after, const CompareOptions& options = {});

}  // namespace stapgen::analyze
