// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rows/counts.h"
#include "rows/drops.h"
#include "rows/functions.h"
#include "rows/kept.h"
#include "rows/latency.h"
#include "rows/others.h"
#include "rows/run.h"

namespace stapgen::rows {

/// What people read of a measurement, and no document has. Control characters are made visible; what is empty is not
/// said.
struct Sentences {
    table::Texts kept{};   ///< why and when its records were kept, and what differs at that moment
    std::string span{};    ///< when it began, and for how long
    table::Texts hosts{};  ///< one for each
    std::string definition{};
    std::string answer{};              ///< what packets mostly waited for
    table::Texts origin{}, account{};  ///< lines
    table::Texts warnings{};           ///< one for each kind
    table::Texts not_understood{};     ///< lines
    std::string reads{};               ///< how many segments there are in a packet and in a receiving call
    std::string drops{};               ///< where drops are counted
    std::string stacks{};              ///< where there are any
    std::string counts{};              ///< where something is counted
    std::string calls_left_out{};
    std::string who{};         ///< where threads waited
    table::Texts functions{};  ///< where code was sampled
    table::Texts ledger{};
};

/// What a measurement says, as all formats write it: tables in the order of documents.
struct Results
    : table::TablesOf<Report, Origin, Host, Run, Kept, Interval, Stage, Value, Total, Precision, Tail, Slowest, Way,
                      StandOut, WayOfGroup, Series, Average, AverageInterval, OfInterval<Drop>, Drop, HiddenDrops,
                      HiddenTotals, Advice, OfInterval<Stack>, Stack, HiddenOfInterval, Counted, OfInterval<Count>,
                      Count, CountersRead, Counting, Call, CallsLeftOut, Who, Function, Ledger, CauseOfWait, Proposal,
                      Counter, Accounting, Sample, Cost, Input, Note> {
    std::vector<Stack> stacks_shown{};  ///< of each reason the most frequent
    Sentences sentences{};

    [[nodiscard]] const table::Series& series() const { return *one<Series>().series; }
    /// Whether drops were counted.
    [[nodiscard]] bool counts_drops() const { return of<OfInterval<Drop>>().is_there; }
};

}  // namespace stapgen::rows
