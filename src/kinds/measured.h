// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/record_parser.h"
#include "kinds/accounting.h"
#include "recording/facts.h"
#include "rows/counts.h"
#include "rows/drops.h"
#include "rows/functions.h"
#include "rows/kept.h"
#include "rows/latency.h"
#include "rows/others.h"
#include "rows/run.h"

namespace stapgen::kinds {

using decode::Note, decode::NoteKind;
using recording::Counter, recording::Origin, recording::Transport;

/// What a run says of itself: code decides by it, so it is no table. Some of it is set by the caller.
struct Run : recording::RunEnd {
    std::string recipe;
    std::vector<Origin> origins;  ///< of one definition
    std::string merge_conflict;   ///< why it is not added to another of the same recipe, for a person; empty: it may be
    std::vector<Note> notes;      ///< "requests above 100 us are cut off"
    Accounting accounting;
    /// Number of reported records that were aggregated in the kernel: they are in no group, and the slowest of them
    /// may be unknown.
    std::int64_t aggregated = 0;
    decode::InputCounts input;  ///< set by the caller from RecordParser::input()
    Cost cost;
    Sample sample;
    std::optional<std::int64_t> start_epoch_ns;  ///< probes were live
    std::optional<std::int64_t> end_epoch_ns;    ///< the last moment in the input
    std::int64_t recordings = 1;                 ///< that were added up
    std::vector<std::string> kernels;            ///< that drops are of, release and build-id, as far as they are known
    std::int64_t recorded_ns = 0;                ///< of more than one: their lengths together; 0: not known
    std::size_t stacks_shown = 5;                ///< call paths that people see of each reason

    /// recording::definition_of(); empty: not known.
    [[nodiscard]] std::string definition() const { return origins.empty() ? "" : origins.front().definition; }
    /// Whether nothing in it says that data is missing: lost, skipped, unaccounted, broken off or not closed.
    [[nodiscard]] bool is_whole() const;
};

/// The rows that kinds make of records.
using Tables = table::TablesOf<rows::Interval, rows::Stage, rows::Value, rows::Precision, rows::Breakdown,
                               rows::GroupBreakdown, rows::OwnerTime, rows::Series, rows::AverageOf,
                               rows::AveragesOfInterval, rows::OfInterval<rows::Drop>, rows::OfInterval<rows::Stack>,
                               rows::OfInterval<rows::Count>, rows::Counting, rows::Readings, rows::Call, rows::Who,
                               rows::CodeSample, rows::OfInterval<rows::Entry>, rows::Kept, rows::Proposal>;

/// What was measured, as records say it, before names are put and totals are made.
struct Measured : Run, Tables {
    /// Whether its records are counts. A latency recipe may count drops or failures beside them.
    [[nodiscard]] bool counts() const {
        return (has<rows::OfInterval<rows::Drop>>() || has<rows::OfInterval<rows::Count>>()) && !has<rows::Stage>();
    }
    /// Number of intervals.
    [[nodiscard]] std::size_t intervals() const { return of<rows::Interval>().size(); }
};

/// What differs in their definitions, for a person.
std::string merge_conflict_of(const Run& run, const Run& other);

}  // namespace stapgen::kinds
