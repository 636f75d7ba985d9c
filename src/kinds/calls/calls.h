// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>

#include "kinds/intervals.h"
#include "kinds/kind.h"
#include "rows/results.h"

/// Calls of functions of the kernel, one by one.
namespace stapgen::kinds::calls {

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log);
/// The rows that are written, of what was measured.
void put_results(const Measured& measured, const Asked& asked, rows::Results& results);

}  // namespace stapgen::kinds::calls
