// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "study/compare.h"

/// Student's test of logarithms; and what the tests of hosts and of kernels have in common, where each host is one
/// value.
namespace stapgen::study {

/// Of a distance of logarithms with that standard error: p and the interval of the change.
struct TTest {
    TTest(double distance, double error, double degrees);
    double low, high, p;
};

/// A duration of 0 is one below the clock's resolution; it has no logarithm.
inline constexpr double least_ns = 0.5;
/// How much the spread of all stages counts in that of one, in hosts (Smyth 2004, moderated t).
inline constexpr double prior_degrees = 2;
/// The variance of a logarithm that bins alone make.
inline constexpr double rounding_variance = table::relative_error * table::relative_error / 3;

/// `squares`, with these degrees of freedom, as a variance, drawn to `prior`.
inline double drawn_variance(double squares, double degrees, double prior) {
    return (prior_degrees * prior + squares) / (prior_degrees + degrees) + rounding_variance;
}

/// A change, and whether it is one.
struct Tested {
    double change = 0;         ///< as a part
    double low = 0, high = 0;  ///< its 95 % interval, not corrected for the number of tests
    double p = 1;              ///< of "no change", two-sided, corrected by Holm over all rows
    bool stands_out = false;   ///< p is below 0.05, and the change larger than the threshold

    static constexpr void columns(auto&& column) {
        column(Separate(), "change", &Tested::change);
        column(Separate(), "change_low", &Tested::low);
        column(Separate(), "change_high", &Tested::high);
        column(Separate(), "p", &Tested::p);
        column(Separate(), "stands_out", &Tested::stands_out);
    }

    void set(const TTest& test) { low = test.low, high = test.high, p = test.p; }
};

/// Sorts by p and corrects it; marks what stands out. `families`: the number of such families in one answer, which is
/// wrong as often as one alone.
template <class Row>
void correct(std::vector<Row>& rows, double threshold, double families) {
    std::ranges::stable_sort(rows, {}, &Row::p);
    double least = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto& row = rows[i];
        least = std::max(least, std::min(1.0, row.p * families * static_cast<double>(rows.size() - i)));
        row.p = least;
        row.stands_out = least < significance && std::abs(row.change) > threshold;
    }
}

/// The mean of variances, of the rows of that percentile: the middle of a distribution varies less than its end.
template <class Row>
double prior_of(const std::vector<Row>& rows, const std::vector<double>& variances, const std::string& statistic) {
    double sum = 0, n = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].statistic != statistic) continue;
        sum += variances[i];
        ++n;
    }
    return sum / n;
}

}  // namespace stapgen::study
