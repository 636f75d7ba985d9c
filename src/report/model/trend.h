// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "analyze/summary.h"

/// How a stage's mean changes over the time of a measurement, as a small bar for each part of it.
namespace stapgen::report {

struct Trend {
    std::size_t blocks = 1;  ///< of the series, in each part
    std::size_t parts = 0;

    /// A digit for each part: 1 to 8 of the largest mean, 0 where there is no value. Empty if the series lacks it.
    [[nodiscard]] std::string text(const analyze::Summary& summary, const analyze::Measure& stage) const;
};

/// In at most that many parts. Nothing where there are too few blocks or columns to see anything.
std::optional<Trend> trend_of(const analyze::Summary& summary, std::size_t columns);

/// "TREND: mean per 2 s; each row is from 0 to its own maximum", and whether it is of several recordings.
std::string trend_legend(const analyze::Summary& summary, const Trend& trend);

}  // namespace stapgen::report
