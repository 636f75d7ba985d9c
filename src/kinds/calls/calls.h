// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>

#include "kinds/intervals.h"
#include "kinds/kind.h"

/// Calls of functions of the kernel, one by one.
namespace stapgen::kinds::calls {

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log);
/// The tables that are written, of what was measured.
void put_results(const Measured& measured, const Asked& asked, table::Results& results);

/// "calls": by packet, then by context (a thread, or a CPU in softirq), then by begin, an order in which a call
/// precedes those that it made. `begin_ns` is since 1970 if the input says how its clock goes with that, else of that
/// clock.
table::Table calls_table();

}  // namespace stapgen::kinds::calls
