// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"

namespace stapgen::analyze {

/// A difference is significant if its p is below this.
inline constexpr double significance = 0.05;

/// Whether before and after differ significantly: Change::p below `significance`.
enum class Verdict {
    same,  ///< `~`: no significant difference
    slower,
    faster,
    too_few,   ///< not enough samples or blocks of time to say anything
    untested,  ///< the times of the values are unknown: there is a change, but no interval
};

/// One stage and statistic, before and after.
struct Change {
    std::string stage;
    std::string statistic;  ///< "mean", or the percentile as typed: "99.9"
    std::int64_t n_before = 0, n_after = 0;
    std::optional<double> before_ns, after_ns;
    std::optional<double> change;     ///< after / before - 1; nothing where before is 0
    std::optional<double> low, high;  ///< its 95 % confidence interval, not corrected for the number of tests
    std::optional<double> p;          ///< of "no change", two-sided, corrected by Holm over all rows
    Verdict verdict = Verdict::too_few;
    bool is_regression = false;  ///< slower, and by more than the threshold
};

struct CompareOptions {
    std::vector<table::Percentile> percentiles = table::default_percentiles();
    double threshold = 0.05;  ///< as a part: a change up to this is no regression
    int resamples = 1000;
    std::uint64_t seed = 1;  ///< of the resampling: the same input gives the same answer
};

/// What one side of a comparison is made of.
struct Side {
    std::size_t recordings = 0;
    std::size_t blocks = 0;     ///< that were resampled
    std::int64_t block_ns = 0;  ///< the length of one; 0 where recordings or intervals are the blocks
    double usable = 0;          ///< of these, in the stage with most: weighted by how even they are
    std::size_t needed = 0;     ///< of usable ones, for a test
    Summary sum{};              ///< all of it

    /// How much longer it should have been recorded. Nothing: it is enough, or blocks are not of time.
    [[nodiscard]] std::optional<std::int64_t> missing_ns() const;
};

enum class Outcome {
    none,  ///< no row could be tested, or the two sides are apart
    no_regression,
    regression,
};

struct Comparison {
    std::string recipe;
    Group group;                  ///< whose recordings these are, as whoever compares has parted them; empty: all
    std::vector<Change> changes;  ///< by stage in recipe order, then mean, then percentiles
    std::vector<std::string> warnings;
    Side before, after;
    bool by_recording = false;  ///< each recording was one block
    double threshold = 0;
    std::vector<std::string> only_before, only_after;  ///< stages with values on one side only; they have no rows
    bool is_one_sided = false;  ///< one of these is no rare one: 1 % of its side's most frequent stage, or more

    [[nodiscard]] bool has_regression() const;
    [[nodiscard]] Outcome outcome() const;
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
base::Result<Comparison> compare(std::span<const Summary> before, std::span<const Summary> after,
                                 const CompareOptions& options = {});

inline base::Result<Comparison> compare(const Summary& before, const Summary& after,
                                        const CompareOptions& options = {}) {
    return compare(std::span(&before, 1), std::span(&after, 1), options);
}

/// compare_check.cpp, for compare(). Error (bad_input): what one side says does not mean the same as what the other
/// says. Each side is merged already.
base::Result<void> check_comparable(const Summary& before, const Summary& after);

/// Likewise: what speaks against trusting a comparison: data is missing on a side, or they were measured at the same
/// time.
std::vector<std::string> doubts(std::span<const Summary> before, std::span<const Summary> after);

}  // namespace stapgen::analyze
