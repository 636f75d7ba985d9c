// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>

#include "kinds/intervals.h"
#include "kinds/kind.h"

/// What became of received packets: tapsets/c/ledger.h counts them.
namespace stapgen::kinds::ledger {

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log);
/// The tables that are written, of what was measured: "ledger" has the records' entries, how many packets were
/// delivered and dropped, and how many nothing explains.
void put_results(const Measured& measured, const Asked& asked, table::Results& results);

/// "entries": packets of one entry of the records, of one thing (a device, a protocol), in one interval.
table::Table entries_table();

}  // namespace stapgen::kinds::ledger
