// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinds/intervals.h"
#include "kinds/kind.h"

/// Counts of anything by group, and counters of the kernel and its drivers.
namespace stapgen::kinds::counts {

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log);
/// The tables that are written, of what was measured, with totals.
void put_results(const Measured& measured, const Asked& asked, table::Results& results);

/// "counts": how much was counted of one group in one interval. `meaning`, `loss` and `loss_by_name` are filled in by
/// whoever has the recipe: the second says that something was lost where this is counted, the third that its name says
/// so and nobody has looked it up. `per_s`: where it is known over what time it was counted, and that is not the
/// interval.
table::Table counts_table();

/// "counting", one row: what all counts are of, "pages"; whether they are of bytes, packets and times, so that no sum
/// of them means anything; whether they are values of counters, because there was one sample, or none rose; the number
/// of counters read.
table::Table counting_table();
/// Sets a fact of it; makes the table where there is none.
void set_fact(Measured& measured, std::string_view column, table::Value value);

/// The number that rows are shown by: 3 for losses, loss_by_name_rank for what is one by its name, 1 for what has a
/// meaning, 0 for the rest, and last -1 for counters of bytes, which would be above those of packets by their number
/// alone.
inline constexpr int loss_by_name_rank = 2;
int rank_of(const table::Table& counts, const table::Row& row, bool mixed_units);

/// The name of a counter; null where rows are grouped by something else.
const std::string* counter_of(const table::Table& counts, const table::Row& row);

/// Turns the table "readings", counters as they were read, into counts: how far each rose from its first sample to its
/// last, grouped by `by` (of "name" and "of"), with what does not add up as notes. Of one sample, and where nothing
/// rose: their values. Call it once, when all inputs are added up. Without such a table nothing changes.
void put_counter_deltas(Measured& measured, const std::vector<std::string>& by);

}  // namespace stapgen::kinds::counts
