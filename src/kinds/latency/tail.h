// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "table/breakdown.h"

namespace stapgen::kinds::latency {

/// The percentile beyond which records are the tail.
inline constexpr double tail_percent = 99;

/// Where the tail comes from, in one sentence for a person: how much longer the records above that percentile take
/// than the others, and the stages that hold 80 % of the difference (three at most, else that none stands out), each
/// with its part of their time and of the others'. Says so where there are too few records or none is above. Empty
/// without records. No line end, no control characters.
std::string tail_sentence(const table::Breakdown& breakdown, double percent = 99);

/// The stage that holds the largest part of the difference; empty where none stands out.
std::string stage_of_tail(const table::Breakdown::Tail& tail);

}  // namespace stapgen::kinds::latency
