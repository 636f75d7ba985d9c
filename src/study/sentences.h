// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/comparison.h"

/// A comparison in words.
namespace stapgen::study {

/// Those that changed significantly, slower ones first, of these and of the others the largest change first.
std::vector<std::string> changed_stages(const Comparison& comparison);

/// What the intervals were made from, without a full stop: "Before: 30 blocks of 2 s; after: 31 blocks of 2 s".
std::string blocks_text(const Comparison& comparison);

/// A part as percent: "+3.2", "-41.0", "+212".
std::string change_percent(double part);

/// "5.05 %"; "-" where it is not known.
std::string share_text(std::optional<double> share);

/// "0.012", "<0.001"; "-" where it is not known.
std::string p_text(std::optional<double> p);

/// "mean", "p99".
std::string statistic(const Change& change);

}  // namespace stapgen::study
