// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kinds/intervals.h"
#include "kinds/kind.h"
#include "table/breakdown.h"
#include "table/series.h"

/// Where the time goes: stages and values of records, by direction and over time.
namespace stapgen::kinds::latency {

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log);
/// The tables that are written, of what was measured, with shares, the tail, the slowest.
void put_results(const Measured& measured, const Asked& asked, table::Results& results);

/// "stages" (ns) and "values" (no unit): distributions, the whole in recipe order, then each group, the largest first.
/// A recipe has each of them, or not.
table::Table stages_table();
table::Table values_table();
/// "breakdowns": a row for each direction, by its name. What a total is made of, and the slowest records.
table::Table breakdowns_table();
/// "series": one row. Stages and values over time, in the order of their rows of the whole.
table::Table series_table();

/// In both of them the whole stays first, and groups have the largest before others, "other" as the last one.
void sort_groups(table::Tables& tables);

/// Reading these tables. What is not there is null or empty.
const table::Histogram* stage_of(const Measured& measured, std::string_view name);
/// Names and distributions of the whole, without parts of stages.
using Measures = std::vector<std::pair<std::string, const table::Histogram*>>;
Measures whole_of(const table::Table& measures);
/// Those parts, of the whole.
Measures parts_of(const Measured& measured);
std::vector<const table::Breakdown*> breakdowns_of(const Measured& measured);
/// "total", "rx total".
std::string total_name(const table::Breakdown& breakdown);
const table::Series& series_of(const Measured& measured);
/// Times of stages are multiples of it.
std::int64_t resolution_of(const Measured& measured);

}  // namespace stapgen::kinds::latency
