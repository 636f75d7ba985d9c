// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rows/run.h"
#include "table/keys.h"

/// What a comparison found, as plain data: rows of the document "stapgen.compare/1".
namespace stapgen::study {

using table::Key, table::Separate, table::Known, table::About, table::Shape, table::Shown;

/// A difference is significant if its p is below this.
inline constexpr double significance = 0.05;

/// Whether before and after differ significantly: Change::p below `significance`.
enum class Verdict {
    same,  ///< `~`: no significant difference
    slower,
    faster,
    too_few,   ///< not enough samples or blocks of time to say anything
    untested,  ///< the times of the values are unknown: there is a change, but no interval
};
std::string_view name_of(Verdict verdict);

/// One stage and statistic, before and after.
struct Change {
    std::string stage;
    std::string statistic;  ///< "mean", or the percentile as typed: "99.9"
    std::int64_t n_before = 0, n_after = 0;
    std::optional<double> before_ns, after_ns;
    std::optional<double> change;     ///< after / before - 1; nothing where before is 0
    std::optional<double> low, high;  ///< its 95 % confidence interval, not corrected for the number of tests
    std::optional<double> p;          ///< of "no change", two-sided, corrected by Holm over all rows
    Verdict verdict = Verdict::too_few;
    bool is_regression = false;  ///< slower, and by more than the threshold

    static constexpr About about{.name = "changes"};
    static constexpr void columns(auto&& column) {
        column(Key(), "stage", &Change::stage);
        column(Key(), "statistic", &Change::statistic);
        column(Separate(), "n_before", &Change::n_before);
        column(Separate(), "n_after", &Change::n_after);
        column(Separate(), "before_ns", &Change::before_ns);
        column(Separate(), "after_ns", &Change::after_ns);
        column(Separate(), "change", &Change::change);
        column(Separate(), "change_low", &Change::low);
        column(Separate(), "change_high", &Change::high);
        column(Separate(), "p", &Change::p);
        column(Separate(), "verdict", &Change::verdict);
        column(Separate(), "regression", &Change::is_regression);
    }
};

/// A part of a stage: its time per packet that was in the stage, whether it had the part or not, so that the parts add
/// up to the stage's mean. Not tested: the stage is.
struct PartChange {
    std::string stage, cause;
    double before_ns = 0, after_ns = 0;

    static constexpr About about{.name = "parts"};
    static constexpr void columns(auto&& column) {
        column(Key(), "stage", &PartChange::stage);
        column(Key(), "cause", &PartChange::cause);
        column(Separate(), "before_ns", &PartChange::before_ns);
        column(Separate(), "after_ns", &PartChange::after_ns);
    }
};

/// How many records failed: all of them first, whose share is tested by itself, then by cause.
struct FailureChange {
    std::string cause;  ///< empty: all
    std::int64_t before = 0, after = 0;
    std::optional<double> before_share, after_share;  ///< of all records
    std::optional<double> p;                          ///< of "no change of the share"
    bool is_regression = false;                       ///< it rose significantly, and by more than the threshold

    static constexpr About about{.name = "failures"};
    static constexpr void columns(auto&& column) {
        column(Key(), Known("cause"), &FailureChange::cause);
        column(Separate(), "before", &FailureChange::before);
        column(Separate(), "after", &FailureChange::after);
        column(Separate(), "before_share", &FailureChange::before_share);
        column(Separate(), "after_share", &FailureChange::after_share);
        column(Separate(), "p", &FailureChange::p);
        column(Separate(), "regression", &FailureChange::is_regression);
    }
};

/// What one side of a comparison is made of.
struct Side {
    std::size_t recordings = 0;
    std::size_t blocks = 0;     ///< that were resampled
    std::int64_t block_ns = 0;  ///< the length of one; 0 where recordings or intervals are the blocks
    double usable = 0;          ///< of these, in the stage with most: weighted by how even they are
    std::size_t needed = 0;     ///< of usable ones, for a test
    std::optional<std::string> definition{};
    std::vector<rows::Origin> origins{};

    /// How much longer it should have been recorded. Nothing: it is enough, or blocks are not of time.
    [[nodiscard]] std::optional<std::int64_t> missing_ns() const;

    static constexpr About about{.name = "side", .shape = Shape::record};
    static constexpr void columns(auto&& column) {
        column(Separate(), "recordings", &Side::recordings);
        column(Separate(), "blocks", &Side::blocks);
        column(Separate(), "block_ns", &Side::block_ns);
        column(Separate(), "usable_blocks", &Side::usable);
        column(Separate(), "needed_blocks", &Side::needed);
        column(Separate(), "missing_ns", &Side::missing_ns);
        column(Separate(), "definition", &Side::definition);
        column(Separate(), "origins", &Side::origins);
    }
};

enum class Outcome {
    none,  ///< no row could be tested, or the two sides are apart
    no_regression,
    regression,
};
std::string_view name_of(Outcome outcome);

struct Comparison {
    std::string recipe;
    table::Group group;             ///< whose recordings these are, as whoever compares has parted them; empty: all
    std::vector<Change> changes;    ///< by stage in recipe order, then mean, then percentiles
    std::vector<PartChange> parts;  ///< of stages that are divided on both sides, in recipe order; those that there are
    std::vector<FailureChange> failures;  ///< where a side has any
    std::vector<std::string> warnings;
    Side before, after;
    bool by_recording = false;  ///< each recording was one block
    double threshold = 0;
    std::vector<std::string> only_before, only_after;  ///< stages with values on one side only; they have no rows
    bool is_one_sided = false;  ///< one of these is no rare one: 1 % of its side's most frequent stage, or more

    [[nodiscard]] bool has_regression() const;
    [[nodiscard]] Outcome outcome() const;
    /// What came out, without a full stop: "ip-tcp is slower: p99 +212 % [+180 %, +251 %], from 9.30 us to 29.1 us; no
    /// other stage changed significantly". Stage names as they are, unprinted characters too.
    [[nodiscard]] std::string sentence() const;

    static constexpr About about{.name = "comparison", .shape = Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Key(), "recipe", &Comparison::recipe);
        column(Key(), "group", &Comparison::group);
        column(Separate(), "sentence", &Comparison::sentence);
        column(Separate(), "result", &Comparison::outcome);
        column(Separate(), "regression", &Comparison::has_regression);
        column(Separate(), "only_before", &Comparison::only_before);
        column(Separate(), "only_after", &Comparison::only_after);
        column(Separate(), "threshold", &Comparison::threshold);
        column(Separate(), "by_recording", &Comparison::by_recording);
        column(Separate(), "before", &Comparison::before);
        column(Separate(), "after", &Comparison::after);
        column(Separate(), "warnings", &Comparison::warnings);
        column(Separate(), "changes", &Comparison::changes);
        column(Separate(), "parts", &Comparison::parts, Shown{.is_rare = true});
        column(Separate(), "failures", &Comparison::failures, Shown{.is_rare = true});
    }
};

}  // namespace stapgen::study
