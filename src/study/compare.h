// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kinds/measured.h"
#include "study/comparison.h"
#include "table/histogram.h"
#include "table/series.h"

namespace stapgen::study {

using kinds::Measured;

struct CompareOptions {
    std::vector<table::Percentile> percentiles = table::default_percentiles();
    double threshold = 0.05;  ///< as a part: a change up to this is no regression
    int resamples = 1000;
    std::int64_t block_ns = table::Series::second_ns;  ///< blocks of time are no shorter
    std::uint64_t seed = 1;                            ///< of the resampling: the same input gives the same answer
};

/// A comparison, and what each of its sides is when it is added up.
struct Compared {
    Comparison comparison;
    Measured before, after;
};

/// From this many recordings on both sides, each is a block, so that what differs from recording to recording is in the
/// intervals.
inline constexpr std::size_t recordings_as_blocks = 5;

/// Compares stage by stage. Each side may be several recordings (ABAB); their statistics are those of all values
/// together. The uncertainty is that of the interval-block bootstrap, see Resampling; the test is Welch's t of the
/// logarithms.
///
/// Stages that have values on one side only are not compared, and a total only where both sides have the same stages.
///
/// Error (bad_input): the two cannot be compared: other recipes, resolutions or truncation, no durations, no stage that
/// both have, or nothing to make blocks of.
base::Result<Compared> compare(std::span<const Measured> before, std::span<const Measured> after,
                               const CompareOptions& options = {});

inline base::Result<Compared> compare(const Measured& before, const Measured& after,
                                      const CompareOptions& options = {}) {
    return compare(std::span(&before, 1), std::span(&after, 1), options);
}

/// compare_check.cpp, for compare(). Error (bad_input): what one side says does not mean the same as what the other
/// says. Each side is merged already.
base::Result<void> check_comparable(const Measured& before, const Measured& after);

/// Likewise: what speaks against trusting a comparison: data is missing on a side, or they were measured at the same
/// time.
std::vector<std::string> doubts(std::span<const Measured> before, std::span<const Measured> after);

}  // namespace stapgen::study
