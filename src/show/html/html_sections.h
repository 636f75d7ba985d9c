// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rows/results.h"
#include "show/html/html_page.h"
#include "show/model/format.h"
#include "show/model/hosts.h"
#include "show/model/measures.h"
#include "study/comparison.h"

namespace stapgen::show {
extern const Format html_format;
}

/// The parts of a page, each from what it shows. One that has nothing to show has no tables and no paragraphs.
namespace stapgen::show::html {

/// Limit of rows of a table whose length the input decides.
inline constexpr std::size_t max_rows = 500;
/// Without the rows beyond max_rows, and saying so.
Table bounded(Table table);

/// None where nothing is said.
table::Texts paragraphs_of(const std::string& sentence);

/// Of the whole; null where there is no such stage.
const table::Histogram* stage_of(const rows::Results& results, std::string_view name);
/// The stage that the charts show first: "total", else the one with the most time.
std::string first_stage_of(const rows::Results& results);

/// The whole time of each direction as a bar of its stages. `max_ns`: the mean total that takes the whole width, 0: the
/// longest among them.
std::vector<Stack> stacks_of(const rows::Results& results, double max_ns = 0);
/// The longest mean total of the directions.
double max_mean_of(const rows::Results& results);
std::vector<Segment> legend_of(const rows::Results& results);

Section calls_section(const rows::Results& results);
Section stages_section(const rows::Results& results, const Options& options);
Section tail_section(const rows::Results& results);
Section slowest_section(const rows::Results& results);
Section who_section(const rows::Results& results);
Section ledger_section(const rows::Results& results);
Section groups_section(const rows::Results& results, const Options& options);

/// The length to which blocks must be joined until blocks times stages are `rows` at most.
std::int64_t block_length(const rows::Results& results, std::size_t rows);
/// A table for each stage, with blocks of that length.
Section time_section(const rows::Results& results, std::int64_t block_ns);
/// One table: for each bin of bins_of() how many values each stage has in it.
Section distribution_section(const rows::Results& results);

/// The number of values from `low_ns` to below `high_ns`.
struct BinCount {
    std::int64_t low_ns = 0, high_ns = 0, count = 0;
};
/// The bins that have values, ascending: about 8 to a doubling, and none narrower than the resolution.
std::vector<BinCount> bins_of(const table::Histogram& stats, std::int64_t resolution_ns);

/// A small chart for each of the slowest, and a table.
Section hosts_section(const Hosts& hosts);

/// Of each stage and value how its values are distributed in each column of time: the first stage, then the others,
/// folded. None where there are few blocks of time.
std::vector<Plot> heatmaps_of(const rows::Results& results);
/// The percentiles of all stages.
std::vector<Plot> curves_of(const rows::Results& results);
/// How the values of each stage are distributed; all but the first folded.
std::vector<Plot> distributions_of(const rows::Results& results);

/// Of two runs, for each of these stages, which both have; all but the first folded.
std::vector<Plot> curves_of_both(const rows::Results& before, const rows::Results& after, const table::Texts& stages);
std::vector<Plot> distributions_of_both(const rows::Results& before, const rows::Results& after,
                                        const table::Texts& stages);
/// P50 and P99 over time; of values, too. None where there are few blocks of time.
std::vector<Plot> lines_of_both(const rows::Results& before, const rows::Results& after, const table::Texts& stages);
std::vector<Segment> both_legend();

/// Puts the plot of that name in front, and folds all others.
void show_first(std::vector<Plot>& plots, const std::string& name);
Section drops_section(const rows::Results& results);
/// Counts by group, of the whole and of each interval.
Section tallies_section(const rows::Results& results);
Section averages_section(const rows::Results& results);
Section account_section(const rows::Results& results);

Section changes_section(const study::Comparison& comparison);
/// What is slower and what is faster, in one sentence each.
std::vector<std::string> verdicts_of(const study::Comparison& comparison);

}  // namespace stapgen::show::html
