// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/saturate.h"
#include "decode/record.h"
#include "recording/facts.h"

namespace stapgen::kinds {

using recording::Cause;

/// Adds to the cause of that name, a new one at the end if there is none. Stops at the largest number.
void add_cause(std::vector<Cause>& causes, std::string_view name, std::int64_t count);

/// The sum of the counts of causes, drops or tallies; stops at the largest number.
std::int64_t sum_of(const auto& rows) {
    return base::saturating_sum(rows, [](const auto& row) { return row.count; });
}

/// What was lost in two runs, or by two ways of counting.
void add_up(recording::Transport& into, const recording::Transport& more);

/// The account of everything seen. In the script's own order of causes.
struct Accounting {
    /// What the script says it saw. Without an end line: what the last tick said, plus the records after it;
    /// at least this many.
    std::int64_t seen = 0;
    std::int64_t reported = 0;  ///< records that were received here (of a recipe with counts: the sum of counts)
    std::int64_t filtered = 0;
    std::vector<Cause> incomplete;  ///< by the stage or step that was never seen
    std::vector<Cause> lost;        ///< "transport": the script reported them and they were not received
    std::vector<Cause> other;       ///< counts of the script that are none of the above; not added up
    bool closed = false;            ///< the input has its last line
    bool kept = true;               ///< false: the input has only means

    [[nodiscard]] std::int64_t incomplete_total() const { return sum_of(incomplete); }
    [[nodiscard]] std::int64_t lost_total() const { return sum_of(lost); }
    /// seen - (reported + filtered + incomplete + lost). Not 0: the script's counts do not add up.
    [[nodiscard]] std::int64_t unaccounted() const;
    /// How many of the script's counts were below zero: a fault of the script.
    [[nodiscard]] std::int64_t below_zero() const;

    Accounting& operator+=(const Accounting& more);
};

/// The script's own counts, as a tick or end line gives them: docs/reference/recording-format.md, "Counts". Nothing
/// where it does not say how many it has seen.
std::optional<Accounting> script_counts(std::span<const decode::Count> counts);

/// What was added since `before`. What was incomplete then and is not any more is seen once more.
Accounting difference(Accounting now, const Accounting& before);

struct ProbeCost {
    std::string point;
    std::int64_t hits = 0;
    std::int64_t cycles = 0;      ///< of all hits
    std::int64_t max_cycles = 0;  ///< of one
};

/// What the probes cost by SystemTap's own clock, `stap -t`. The way into a handler (a breakpoint, a jump) is not in
/// it. The clock is set by the caller.
struct Cost : recording::ProbeClock {
    std::vector<ProbeCost> probes;  ///< a row for each point; empty: not measured

    void add(const decode::ProbeTimes& times);
    /// Another run's. One in which nothing was measured changes nothing.
    Cost& operator+=(const Cost& other);

    [[nodiscard]] std::int64_t hits() const;
    [[nodiscard]] std::int64_t cycles() const;
    /// Of one CPU's time: 1 is all of it; nothing where it is not known how many cycles a second has.
    [[nodiscard]] std::optional<double> share(std::int64_t cycles) const;
    [[nodiscard]] std::optional<double> ns(std::int64_t cycles) const;

  private:
    void add_row(const ProbeCost& probe);

    double min_cycles_per_s_ = 0, max_cycles_per_s_ = 0;  ///< of several runs
    std::int64_t runs_ = 1;
};

/// One in this many sockets was measured.
struct Sample {
    std::int64_t one_in = 1;     ///< 0: several runs with several samples
    std::int64_t estimated = 0;  ///< records there would be of all sockets, if each had as many

    Sample& operator+=(const Sample& other);
};

}  // namespace stapgen::kinds
