// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "table/keys.h"

/// What a comparison found, as plain data.
namespace stapgen::study {

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

/// A part of a stage: its time per packet that was in the stage, whether it had the part or not, so that the parts add
/// up to the stage's mean. Not tested: the stage is.
struct PartChange {
    std::string stage, cause;
    double before_ns = 0, after_ns = 0;
};

/// How many records failed: all of them first, whose share is tested by itself, then by cause.
struct FailureChange {
    std::string cause;  ///< empty: all
    std::int64_t before = 0, after = 0;
    std::optional<double> before_share, after_share;  ///< of all records
    std::optional<double> p;                          ///< of "no change of the share"
    bool is_regression = false;                       ///< it rose significantly, and by more than the threshold
};

/// What one side of a comparison is made of.
struct Side {
    std::size_t recordings = 0;
    std::size_t blocks = 0;     ///< that were resampled
    std::int64_t block_ns = 0;  ///< the length of one; 0 where recordings or intervals are the blocks
    double usable = 0;          ///< of these, in the stage with most: weighted by how even they are
    std::size_t needed = 0;     ///< of usable ones, for a test

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
    table::Group group;             ///< whose recordings these are, as whoever compares has parted them; empty: all
    std::vector<Change> changes;    ///< by stage in recipe order, then mean, then percentiles
    std::vector<PartChange> parts;  ///< of stages that are divided on both sides, in recipe order; those that there are
    std::vector<FailureChange> failures;  ///< where a side has any
    std::vector<std::string> warnings;
    Side before, after;
    bool by_recording = false;  ///< each recording was one block
    double threshold = 0;
    std::vector<std::string> only_before, only_after;  ///< stages with values on one side only; they have no rows
    bool is_one_sided = false;  ///< one of these is no rare one: 1 % of its side's most frequent stage, or more

    [[nodiscard]] bool has_regression() const;
    [[nodiscard]] Outcome outcome() const;
};

}  // namespace stapgen::study
