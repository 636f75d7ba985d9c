// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "analyze/summary.h"
#include "report/model/format.h"
#include "report/model/report.h"
#include "table/results.h"

namespace stapgen::report {

/// What a summary says, with what is worked out of it: shares, the tail, advice, totals.
table::Results results_of(const Report& report);

/// Tables of it that are also laid out for people.
table::Table counters_table(const analyze::Summary& summary);

/// Parts of it, in their order.
void add_run_tables(const Report& report, table::Results& results);
void add_latency_tables(const Report& report, table::Results& results);
void add_drop_tables(const Report& report, table::Results& results);
void add_count_tables(const Report& report, table::Results& results);
void add_account_tables(const Report& report, table::Results& results);

}  // namespace stapgen::report
