// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>

#include "kinds/intervals.h"
#include "kinds/kind.h"
#include "rows/results.h"

/// What became of received packets: tapsets/c/ledger.h counts them.
namespace stapgen::kinds::ledger {

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log);
/// The rows that are written, of what was measured: "ledger" has the records' entries, how many packets were
/// delivered and dropped, and how many nothing explains.
void put_results(const Measured& measured, const Asked& asked, rows::Results& results);

}  // namespace stapgen::kinds::ledger
