// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>

#include "kinds/intervals.h"
#include "kinds/kind.h"
#include "rows/results.h"

/// What threads waited for, in sum: who had the CPU, which cgroup was throttled, where they slept.
namespace stapgen::kinds::who {

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log);
/// The rows that are written, of what was measured, the worst first.
void put_results(const Measured& measured, const Asked& asked, rows::Results& results);

}  // namespace stapgen::kinds::who
