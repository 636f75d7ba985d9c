// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "rows/results.h"

/// How a stage's mean changes over the time of a measurement, as a small bar for each part of it.
namespace stapgen::show {

struct Trend {
    std::size_t blocks = 1;  ///< of the series, in each part
    std::size_t parts = 0;

    /// A digit for each part: 1 to 8 of the largest mean, 0 where there is no value. Empty if the series lacks it.
    [[nodiscard]] std::string text(const rows::Results& results, const std::string& stage) const;
};

/// In at most that many parts. Nothing where there are too few blocks or columns to see anything.
std::optional<Trend> trend_of(const rows::Results& results, std::size_t columns);

/// "TREND: mean per 2 s; each row is from 0 to its own maximum", and whether it is of several recordings.
std::string trend_legend(const rows::Results& results, const Trend& trend);

}  // namespace stapgen::show
