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
#include "table/table.h"

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

/// What was measured, as records say it, before names are put and totals are made. Which tables there are, and their
/// columns, is said by the kinds: stages_table() and its like.
struct Measured : Run {
    table::Tables tables;

    /// The table of that name; an empty one where there is none.
    [[nodiscard]] const table::Table& at(std::string_view name) const;
    /// The table of the same name; `empty` where there is none.
    [[nodiscard]] table::Table or_empty(table::Table empty) const;
    /// A cell of a table that has one row; nothing where there is none.
    [[nodiscard]] const table::Value& fact(std::string_view table, std::string_view column) const;
    [[nodiscard]] bool has(std::string_view name) const { return table::find(tables, name) != nullptr; }
    /// Whether its records are counts. A latency recipe may count drops or failures beside them.
    [[nodiscard]] bool counts() const { return (has("drops") || has("counts")) && !has("stages"); }
    /// Number of intervals.
    [[nodiscard]] std::size_t intervals() const { return at("intervals").rows.size(); }
};

/// When each interval began and ended; its end is not known where the input stops before its tick.
table::Table intervals_table();

/// What differs in their definitions, for a person.
std::string merge_conflict_of(const Run& run, const Run& other);

}  // namespace stapgen::kinds
