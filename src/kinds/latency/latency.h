// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kinds/intervals.h"
#include "kinds/kind.h"
#include "rows/results.h"
#include "table/breakdown.h"
#include "table/series.h"

/// Where the time goes: stages and values of records, by direction and over time.
namespace stapgen::kinds::latency {

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log);
/// The rows that are written, of what was measured, with shares, the tail, the slowest.
void put_results(const Measured& measured, const Asked& asked, rows::Results& results);

/// Reading stages and values. What is not there is null or empty.
const table::Histogram* stage_of(const Measured& measured, std::string_view name);
/// Names and distributions of the whole, without parts of stages.
using Measures = std::vector<std::pair<std::string, const table::Histogram*>>;
Measures whole_of(const std::vector<rows::Stage>& stages);
Measures whole_of(const std::vector<rows::Value>& values);
/// Those parts, of the whole.
Measures parts_of(const std::vector<rows::Stage>& stages);
/// "total", "rx total".
std::string total_name(const table::Breakdown& breakdown);

}  // namespace stapgen::kinds::latency
