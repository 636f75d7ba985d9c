// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rows/results.h"
#include "show/model/format.h"
#include "show/model/table.h"
#include "show/model/texts.h"
#include "show/model/trend.h"

/// Stages and values as people see them.
namespace stapgen::show {

/// A stage or a value.
struct MeasureRow {
    std::string name;
    table::Group group;  ///< empty: of the whole
    table::Shared<table::Histogram> stats;
    std::optional<double> share{};
    bool is_part = false;  ///< of a stage
};
/// Rows of stages, which are times, or of values.
struct Measures {
    bool are_times = true;
    std::vector<MeasureRow> rows{};
};
Measures measures_of(const rows::Results& results, bool are_times);

/// The rows of the whole, without those that nothing went through, unless there are no others.
Measures whole_rows(const rows::Results& results, bool are_times);
/// Those of stages, without their parts: what charts have.
Measures undivided_stages(const rows::Results& results);
/// The rows of the largest groups, and last of the group {"rest": true}: the others together, as exact as each.
Measures group_rows(const rows::Results& results, bool are_times, std::size_t most);
bool is_rest(const table::Group& group);
/// How many groups are in the rest.
std::size_t groups_in_rest(const rows::Results& results, bool are_times, std::size_t most);

/// One style for all numbers of a table, so that they line up: whole ns until a tenth of a second is among them.
Style style_of(const Measures& measures);
/// What the "-" instead of a percentile means: "-: not enough samples; P99 needs 368". Empty if there is none.
std::string too_few_text(std::span<const Measures> all, std::span<const table::Percentile> percentiles);
/// What signs and columns of the tables of the whole mean, and of those of groups.
std::vector<std::string> footnotes(const rows::Results& results, const Options& options);
std::vector<std::string> group_footnotes(const rows::Results& results, const Options& options);

/// What bars are made of, in their order: parts and undivided stages; then stages that are divided.
table::Texts coloured_stages(const rows::Results& results);
/// Its place among them; nothing for a total, which is in no bar.
std::optional<std::size_t> colour_of_stage(const table::Texts& coloured, std::string_view stage);
/// A stage's name; of a part its cause, indented: its row follows that of its stage.
Cell stage_cell(const std::string& stage, std::optional<std::size_t> colour);
/// "[1.203, 1.301]", of Histogram::confidence(); "-" where there is none.
std::string interval_text(const std::optional<table::Histogram::Interval>& interval, const Style& style);
/// Those rows of stages or values, of the whole or of groups. At least one.
Table measures_table(const rows::Results& results, const Measures& measures, const Style& style,
                     std::span<const table::Percentile> percentiles, const std::optional<Trend>& trend = {});

}  // namespace stapgen::show
