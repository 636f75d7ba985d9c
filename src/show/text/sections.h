// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "show/model/format.h"
#include "show/model/table.h"

/// The parts of text that stand alone.
namespace stapgen::show {

/// `why_format` answers why, and is none of formats(): `stapgen why` alone has it.
extern const Format table_format, why_format;

/// Of each whose it is, the sentence, a table (us), what the signs in it mean, and warnings.
void write_comparisons(std::ostream& out, std::span<const Compared> all, const Options& options);

/// A row for each record, of several lines on a terminal that is narrower. interrupt() ends the table; its heading is
/// repeated if it goes on.
std::unique_ptr<RecordWriter> event_table(std::ostream& out, const Options& options);

/// The trees of calls; nothing without any.
void write_calls(std::ostream& out, const rows::Results& results, const base::Screen& screen = {});

/// The slowest records of one direction, as many as the options say: the total, when it ended (`local_time_of_day`, or
/// s since the first block where the time of day is not known), whose it was, and below it a row for each stage: when
/// it began, how long it took, and where that is in the whole. In us.
void write_timelines(std::ostream& out, const rows::Results& results, const rows::Way& direction,
                     const Options& options);

/// What the probes cost, and a row for each; nothing where that was not measured.
void write_cost(std::ostream& out, const rows::Results& results, const base::Screen& screen = {});

/// As the screen has colours.
std::string painted(std::string_view text, base::Ink ink, const base::Screen& screen);

/// "WARNING: ...", for what is missing or unreliable.
void write_warning(std::ostream& out, std::string_view text, const base::Screen& screen);

/// Bytes above ASCII as \xNN, the rest as it is.
std::string ascii(std::string_view text);

/// A table as text, each line with its end, no blanks at line ends; of its extra columns these. Columns are as wide as
/// what is in them and nothing is cut. Where that is wider than the screen, the last column's texts are broken at
/// blanks, columns that can leave do so, with a note, or at last each row is a record of its own. Control characters
/// and other bytes than ASCII are written as \xNN.
std::string text_of(const Table& table, const base::Screen& screen = {}, const std::set<Extra>& extras = {});

/// Whether no line is wider than that.
bool fits(std::string_view text, std::size_t width);

}  // namespace stapgen::show
