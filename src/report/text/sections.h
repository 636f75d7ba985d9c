#pragma once

#include <ostream>
#include <vector>

#include "analyze/cost.h"
#include "report/model/report.h"

/// The parts of a text report. Each writes nothing where there is nothing to show.
namespace stapgen::report {

/// The trees of calls.
void write_calls(std::ostream& out, const analyze::Summary& summary);

/// The tables of stages, values and groups, and what is to be known of them.
void write_stages(std::ostream& out, const Report& report);

/// Means of what has no percentiles.
void write_averages(std::ostream& out, const analyze::Summary& summary);

/// Where the tail of each direction comes from, and its slowest records.
void write_directions(std::ostream& out, const Report& report);

/// Each of these records of one direction: its total, when it ended (`local_time_of_day`, or s since the first block
/// where the time of day is not known), whose it was, and below it a row for each stage: when it began, how long it
/// took, and where that is in the whole. In us.
void write_timelines(std::ostream& out, const analyze::Summary& summary, const analyze::Breakdown& breakdown,
                     const std::vector<analyze::SlowRecord>& records, const Options& options);

/// A row for each block of time, of the stage "total" or else of every stage.
void write_series(std::ostream& out, const Report& report);

/// Drops: a heading and a table for each interval, then the total and what its rows mean.
void write_drops(std::ostream& out, const Report& report);

/// The same of counts.
void write_counts(std::ostream& out, const Report& report);

/// What the probes cost, and a row for each.
void write_cost(std::ostream& out, const analyze::Cost& cost);

}  // namespace stapgen::report
