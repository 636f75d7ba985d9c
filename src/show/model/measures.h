// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "show/model/format.h"
#include "show/model/table.h"
#include "show/model/texts.h"
#include "show/model/trend.h"
#include "table/results.h"

/// Stages and values as people see them.
namespace stapgen::show {

/// A row of "stages" or "values"; it refers to the table.
struct MeasureRow {
    const std::string& name;
    const table::Group& group;  ///< empty: of the whole
    const table::Histogram& stats;
    std::optional<double> share;
};
std::vector<MeasureRow> measured(const table::Table& rows);
std::vector<MeasureRow> measured(table::Table&& rows) = delete;

/// The rows of the whole of "stages" or "values", without those that nothing went through, unless there are no others.
table::Table whole_rows(const table::Results& results, std::string_view name);
/// Those of stages, without their parts: what charts have.
table::Table undivided_stages(const table::Results& results);
/// The rows of the largest groups, and last of the group {"rest": true}: the others together, as exact as each.
table::Table group_rows(const table::Results& results, std::string_view name, std::size_t most);
bool is_rest(const table::Group& group);
/// How many groups are in the rest.
std::size_t groups_in_rest(const table::Results& results, std::string_view name, std::size_t most);

/// One style for all numbers of a table, so that they line up: whole ns until a tenth of a second is among them.
Style style_of(const table::Table& rows);
/// What the "-" instead of a percentile means: "-: not enough samples; P99 needs 368". Empty if there is none.
std::string too_few_text(std::span<const table::Table> tables, std::span<const table::Percentile> percentiles);
/// What signs and columns of the tables of stages and values mean.
std::vector<std::string> footnotes(const table::Results& results, const Options& options);

/// Its place among the stages of all directions, of a part that of its stage; nothing for a total, which is in no bar.
std::optional<std::size_t> colour_of_stage(const table::Results& results, std::string_view stage);
/// A stage's name; of a part its cause, indented: its row follows that of its stage.
Cell stage_cell(const std::string& stage, std::optional<std::size_t> colour);
/// "[1.203, 1.301]", of Histogram::confidence(); "-" where there is none.
std::string interval_text(const std::optional<table::Histogram::Interval>& interval, const Style& style);
/// Those rows of stages or values, of the whole or of groups. At least one.
Table measures_table(const table::Results& results, const table::Table& rows, const Style& style,
                     std::span<const table::Percentile> percentiles, const std::optional<Trend>& trend = {});

}  // namespace stapgen::show
