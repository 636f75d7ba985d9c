// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinds/intervals.h"
#include "kinds/kind.h"
#include "rows/results.h"

/// Counts of anything by group, and counters of the kernel and its drivers.
namespace stapgen::kinds::counts {

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log);
/// The rows that are written, of what was measured, with totals.
void put_results(const Measured& measured, const Asked& asked, rows::Results& results);

/// The number that rows are shown by: 3 for losses, loss_by_name_rank for what is one by its name, 1 for what has a
/// meaning, 0 for the rest, and last -1 for counters of bytes, which would be above those of packets by their number
/// alone.
inline constexpr int loss_by_name_rank = 2;
int rank_of(const rows::Count& row, bool mixed_units);

/// The name of a counter; null where rows are grouped by something else.
const std::string* counter_of(const rows::Count& row);

/// Turns counters as they were read into counts: how far each rose from its first sample to its
/// last, grouped by `by` (of "name" and "of"), with what does not add up as notes. Of one sample, and where nothing
/// rose: their values. Call it once, when all inputs are added up. Where none were read nothing changes.
void put_counter_deltas(Measured& measured, const std::vector<std::string>& by);

}  // namespace stapgen::kinds::counts
