// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rows/results.h"
#include "show/html/html_page.h"
#include "show/model/format.h"
#include "show/model/hosts.h"
#include "show/model/measures.h"
#include "show/model/sections.h"
#include "study/comparison.h"

namespace stapgen::show {
extern const Format html_format;
}

/// The parts of a page, each from what it shows.
namespace stapgen::show::html {

/// Limit of rows of a table whose length the input decides.
inline constexpr std::size_t max_rows = 500;
/// Without the rows beyond max_rows, and saying so.
Table bounded(Table table);

/// Of the whole; null where there is no such stage.
const table::Histogram* stage_of(const rows::Results& results, std::string_view name);
/// The stage that the charts show first: "total", else the one with the most time.
std::string first_stage_of(const rows::Results& results);

/// Of each direction where its tail comes from.
std::vector<std::string> tail_sentences(const rows::Results& results);

/// The whole time of each direction as a bar of its stages and their parts. `max_ns`: the mean total that takes the
/// whole width; without it each has the whole width, and a legend.
std::vector<Stack> stacks_of(const rows::Results& results, const table::Texts& coloured,
                             std::optional<double> max_ns = {});
/// The longest mean total of the directions.
double max_mean_of(const rows::Results& results);

/// A report on a page.
struct Report {
    const rows::Results& results;
    const Options& options;
    std::size_t block_rows;  ///< of all its tables over time
};

// The sections of a measurement.
void draw(Section& to, section::Calls section, const Report& of);
void draw(Section& to, section::Stages section, const Report& of);
void draw(Section& to, section::Averages section, const Report& of);
void draw(Section& to, section::Tail section, const Report& of);
void draw(Section& to, section::Causes section, const Report& of);
/// A heatmap and a table for each stage.
void draw(Section& to, section::OverTime section, const Report& of);
/// One table: for each bin of bins_of() how many values each stage has in it.
void draw(Section& to, section::Distribution section, const Report& of);
void draw(Section& to, section::Slowest section, const Report& of);
/// From the card to the socket.
void draw(Section& to, section::Ledger section, const Report& of);
void draw(Section& to, section::Drops section, const Report& of);
/// By group, of the whole and of each interval.
void draw(Section& to, section::Counts section, const Report& of);
void draw(Section& to, section::Groups section, const Report& of);
void draw(Section& to, section::Account section, const Report& of);
void draw(Section& to, const Sheet& sheet);
template <HasSheet S>
void draw(Section& to, S /*section*/, const Report& of) {
    draw(to, S::sheet(of.results));
}

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
/// The percentiles of all stages in one picture, and how the values of each are distributed, all but the first folded.
std::vector<Plot> distributions_of(const rows::Results& results);

/// Of two runs, for each of these stages, which both have; all but the first folded.
std::vector<Plot> distributions_of_both(const rows::Results& before, const rows::Results& after,
                                        const table::Texts& stages);
/// P50 and P99 over time. None where there are few blocks of time.
std::vector<Plot> lines_of_both(const rows::Results& before, const rows::Results& after, const table::Texts& stages);
std::vector<Segment> both_legend();

/// Puts the plot of that name in front, and folds all others.
void show_first(std::vector<Plot>& plots, const std::string& name);

Section changes_section(const study::Comparison& comparison);
/// What is slower and what is faster, in one sentence each.
std::vector<std::string> verdicts_of(const study::Comparison& comparison);

}  // namespace stapgen::show::html
