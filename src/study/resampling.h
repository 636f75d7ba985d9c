// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "table/average.h"
#include "table/histogram.h"

namespace stapgen::study {

/// One statistic of a sample that came in blocks of time.
struct Estimate {
    double value = 0;
    double log_error = 0;  ///< standard error of the logarithm of `value`
    double degrees = 0;    ///< of freedom of that error: independent blocks - 1, at least 1
};

/// A mean that may be 0, with the error of itself.
struct Share {
    double value = 0, error = 0, degrees = 1;
};

/// How far a mean or a percentile of one stage could be from the truth, by drawing whole blocks of time again and again
/// (interval-block bootstrap).
///
/// Latencies are no independent draws: a burst slows a thousand packets at once. An interval that takes each packet for
/// a draw of its own is far too narrow, and calls noise a regression. Values within a block may depend on each other in
/// any way. Three corrections make blocks honest draws:
/// - Neighbouring blocks still have something in common. The error widens by the factor of an AR(1) process,
///   (1 + r) / (1 - r), where r is the autocorrelation of neighbours, corrected by Kendall since it is found too low.
/// - Blocks with unequal numbers of values count as fewer blocks (Kish's effective number).
/// - What is drawn from B blocks varies by (B - 1) / B of the truth.
/// Errors are of logarithms, since latencies change by factors. To draw a thousand times is cheap by `cumulative_`: a
/// percentile of drawn blocks is a binary search over rows of bins, and touches no single value.
class Resampling {
  public:
    /// `values` must outlive this. `follows`: the block begins where the one before it ends.
    void add(const table::Histogram& values, bool follows);
    /// A block known only by its mean. A Resampling has blocks of one kind only.
    void add(const table::Average& mean, bool follows);

    [[nodiscard]] std::int64_t n() const;
    /// How many blocks have values, weighted by how even they are.
    [[nodiscard]] double effective_blocks() const;

    /// What estimates are made for: the mean, and percentiles in the order given. There must be a value.
    [[nodiscard]] std::vector<Estimate> estimates(const std::vector<double>& percents, int resamples,
                                                  std::uint64_t seed);
    /// The mean without drawing, as that of its influences: of what has no logarithm. There must be a value.
    [[nodiscard]] Share share() const;

  private:
    using Weights = std::vector<std::int64_t>;  ///< how often each block was drawn
    struct Part {
        std::int64_t n = 0;
        double sum = 0;
        bool follows = false;
        const table::Histogram* values = nullptr;
    };

    void add(Part part);
    void build_cumulative();
    [[nodiscard]] double mean(const Weights& weights) const;
    /// How much each block moves the mean, times all values.
    [[nodiscard]] std::vector<double> influences_on(double mean) const;
    [[nodiscard]] std::size_t row_of(double percent, const Weights& weights) const;
    [[nodiscard]] double independence(const std::vector<double>& influences) const;

    std::vector<Part> parts_;  ///< blocks with values
    bool after_empty_ = false;
    std::vector<double> row_values_;        ///< ascending: one for each bin that has values
    std::vector<std::int64_t> cumulative_;  ///< by row, then by block: how many values are in this row or a lower one
};

}  // namespace stapgen::study
