// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyze/compare.h"
#include "analyze/summary.h"
#include "report/html/html_page.h"
#include "report/model/hosts.h"
#include "report/model/report.h"

namespace stapgen::report {
extern const Format html_format;
}

/// The parts of a page, each from what it shows. One that has nothing to show has no tables and no paragraphs.
namespace stapgen::report::html {

/// Limit of rows of a table whose length the input decides.
inline constexpr std::size_t max_rows = 500;
/// Without the rows beyond max_rows, and saying so.
Table bounded(Table table);

/// The stage that the charts show first: "total", else the one with the most time.
std::string first_stage_of(const analyze::Summary& summary);

/// The whole time of each direction as a bar of its stages. `max_ns`: the mean total that takes the whole width, 0: the
/// longest among them.
std::vector<Stack> stacks_of(const analyze::Summary& summary, double max_ns = 0);
/// The longest mean total of the directions.
double max_mean_of(const analyze::Summary& summary);
std::vector<Segment> legend_of(const analyze::Summary& summary);

Section calls_section(const analyze::Summary& summary);
Section stages_section(const Report& report);
Section tail_section(const Report& report);
Section slowest_section(const Report& report);
Section groups_section(const Report& report);

/// The length to which blocks must be joined until blocks times stages are `rows` at most.
std::int64_t block_length(const analyze::Summary& summary, std::size_t rows);
/// A table for each stage, with blocks of that length.
Section time_section(const analyze::Summary& summary, std::int64_t block_ns);
/// One table: for each bin of bins_of() how many values each stage has in it.
Section distribution_section(const Report& report);

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
std::vector<Plot> heatmaps_of(const analyze::Summary& summary);
/// The percentiles of all stages.
std::vector<Plot> curves_of(const Report& report);
/// A plot for each stage that both have: those in `first`, then the others; all but the first folded.
std::vector<Plot> curves_of_both(const analyze::Summary& before, const analyze::Summary& after,
                                 const std::vector<std::string>& first);
Section drops_section(const Report& report);
/// Counts by group, of the whole and of each interval.
Section tallies_section(const Report& report);
Section averages_section(const analyze::Summary& summary);
Section account_section(const analyze::Summary& summary);

Section changes_section(const analyze::Comparison& comparison);
/// What is slower and what is faster, in one sentence each.
std::vector<std::string> verdicts_of(const analyze::Comparison& comparison);

}  // namespace stapgen::report::html
