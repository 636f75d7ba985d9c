// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/merge.h"
#include "kinds/latency/averages.h"
#include "kinds/latency/latency.h"
#include "study/compare_failures.h"
#include "study/compare_stages.h"
#include "study/resampling.h"
#include "study/t_test.h"

namespace stapgen::study {

namespace {

namespace latency = kinds::latency;
using latency::stage_of;
using table::Average, table::Block, table::Breakdown, table::Series;

/// A series of this many blocks or more is joined to half as many, again and again: what neighbours in time have in
/// common is then mostly inside of blocks.
constexpr std::size_t many_blocks = 32;

const Average* average_of(const Measured& measured, std::string_view name) {
    const auto& averages = measured.of<rows::AverageOf>();
    const auto found = std::ranges::find(averages, name, &rows::AverageOf::name);
    return found == averages.end() ? nullptr : &found->average;
}

/// A block for each recording that has such values.
template <class ValuesOf>
Resampling recordings_of(const SideBlocks& side, const ValuesOf& values_of) {
    Resampling blocks;
    for (const auto& recording : side.recordings) {
        if (const auto* values = values_of(recording)) blocks.add(*values, false);
    }
    return blocks;
}

Resampling blocks_of_stage(const SideBlocks& side, std::string_view name) {
    if (side.by_recording) return recordings_of(side, [&](const Measured& each) { return stage_of(each, name); });
    Resampling blocks;
    const auto stages = latency::whole_of(side.merged.of<rows::Stage>());
    const auto place = static_cast<std::size_t>(std::ranges::find(stages, name, &latency::Measures::value_type::first) -
                                                stages.begin());
    const auto& series = side.series;
    const Block* last = nullptr;
    for (const auto& block : series.blocks()) {
        if (place >= block.stages.size()) continue;
        blocks.add(block.stages[place], last != nullptr && block.start_ns - last->start_ns < 2 * series.block_ns());
        last = &block;
    }
    return blocks;
}

const table::Histogram* total_of(const Measured& measured, const Breakdown& like) {
    for (const auto& other : measured.of<rows::Breakdown>())
        if (other.breakdown->is_like(like)) return &other.breakdown->total();
    return nullptr;
}

Resampling blocks_of_average(const SideBlocks& side, std::string_view name) {
    if (side.by_recording) {
        return recordings_of(side, [&](const Measured& each) { return average_of(each, name); });
    }
    Resampling blocks;
    for (const auto& interval : side.merged.of<rows::AveragesOfInterval>()) {
        for (const auto& [of, average] : interval.averages)
            if (of == name) blocks.add(average, true);
    }
    return blocks;
}

SideBlocks side_blocks_of(std::span<const Measured> recordings, bool by_recording, std::int64_t block_ns) {
    // One definition: checked before.
    SideBlocks side{analyze::merge_all({recordings.begin(), recordings.end()}), {}, recordings, by_recording};
    side.series = *side.merged.one<rows::Series>().series;
    side.series.coarsen(block_ns);
    side.series.join_to(many_blocks - 1);
    return side;
}

Side side_of(const SideBlocks& of) {
    Side side{.recordings = of.recordings.size()};
    side.needed = of.needed();
    if (of.by_recording) {
        side.blocks = of.recordings.size();
    } else if (of.merged.has<rows::AverageOf>()) {
        const auto& intervals = of.merged.of<rows::AveragesOfInterval>();
        side.blocks = intervals.empty() ? 0 : static_cast<std::size_t>(intervals.back().number + 1);
    } else {
        side.blocks = of.series.blocks().size();
        side.block_ns = of.series.block_ns();
    }
    return side;
}

/// The variance of the logarithm of a value that is off by up to `error` on either side, anywhere between.
double rounding(double error, double value) {
    return value > 0 ? error * error / (3 * value * value) : 0;
}

class Comparer {
  public:
    Comparer(const SideBlocks& before, const SideBlocks& after, const CompareOptions& options)
        : before_(before), after_(after), options_(options) {}

    void stage(const std::string& name, const table::Histogram& stats);
    void average(const std::string& name, const Average& average);
    void total(const Breakdown& breakdown);
    std::vector<Change> finish();
    /// The usable blocks of the stage with most.
    [[nodiscard]] double usable_before() const { return usable_before_; }
    [[nodiscard]] double usable_after() const { return usable_after_; }

  private:
    /// All statistics of what has these values; blocks that are not of all of them say nothing.
    void compare(std::string_view name, const table::Histogram& before_values, const table::Histogram& after_values,
                 Resampling before_blocks, Resampling after_blocks);
    /// Sets p, not corrected yet, and the interval. `error`: how far off the statistic may be on each side for its
    /// digits alone.
    void test(Change& change, const Estimate& before, const Estimate& after, double before_error, double after_error);
    [[nodiscard]] bool have_blocks(const Resampling& before, const Resampling& after) {
        const double of_before = before.effective_blocks(), of_after = after.effective_blocks();
        usable_before_ = std::max(usable_before_, of_before);
        usable_after_ = std::max(usable_after_, of_after);
        const auto needed = static_cast<double>(before_.needed());
        return of_before >= needed && of_after >= needed;
    }

    const SideBlocks& before_;
    const SideBlocks& after_;
    const CompareOptions& options_;
    std::vector<Change> changes_;
    double usable_before_ = 0, usable_after_ = 0;
};

Change change_of(std::string_view stage, std::string_view statistic, std::int64_t n_before, std::int64_t n_after,
                 std::optional<double> before_ns, std::optional<double> after_ns) {
    Change change{std::string(stage), std::string(statistic), n_before, n_after, before_ns, after_ns, {}, {}, {}, {}};
    if (before_ns && after_ns && *before_ns > 0) change.change = *after_ns / *before_ns - 1;
    return change;
}

void Comparer::test(Change& change, const Estimate& before, const Estimate& after, double before_error,
                    double after_error) {
    const double before_variance = before.log_error * before.log_error + rounding(before_error, before.value);
    const double after_variance = after.log_error * after.log_error + rounding(after_error, after.value);
    const double error = std::sqrt(before_variance + after_variance);
    const double log_ratio = std::log(after.value / before.value);
    if (error <= 0) {
        // Every block says the same; only equal means can do that.
        change.low = change.high = change.change;
        change.p = log_ratio == 0 ? 1.0 : 0.0;
        return;
    }
    // Welch and Satterthwaite: the freedom of a difference of two means of unequal variances.
    const double degrees =
        std::pow(before_variance + after_variance, 2) /
        (before_variance * before_variance / before.degrees + after_variance * after_variance / after.degrees);
    const TTest tested(log_ratio, error, degrees);
    change.low = tested.low;
    change.high = tested.high;
    change.p = tested.p;
}

void Comparer::stage(const std::string& name, const table::Histogram& stats) {
    const auto* after_values = stage_of(after_.merged, name);
    if (after_values == nullptr || stats.n() == 0 || after_values->n() == 0) return;
    compare(name, stats, *after_values, blocks_of_stage(before_, name), blocks_of_stage(after_, name));
}

void Comparer::compare(std::string_view name, const table::Histogram& before_values,
                       const table::Histogram& after_values, Resampling before_blocks, Resampling after_blocks) {
    const bool all_timed = before_blocks.n() == before_values.n() && after_blocks.n() == after_values.n();
    const bool enough = all_timed && have_blocks(before_blocks, after_blocks);
    std::vector<Estimate> before, after;
    if (enough) {
        std::vector<double> percents;
        for (const auto& percentile : options_.percentiles)
            percents.push_back(percentile.percent);
        before = before_blocks.estimates(percents, options_.resamples, options_.seed);
        after = after_blocks.estimates(percents, options_.resamples, options_.seed + 1);
    }
    for (std::size_t i = 0; i <= options_.percentiles.size(); ++i) {
        const auto* percentile = i == 0 ? nullptr : &options_.percentiles[i - 1];
        const auto value_of = [&](const table::Histogram& values) -> std::optional<double> {
            if (percentile == nullptr) return values.mean();
            return values.percentile(percentile->percent);
        };
        const auto error_of = [&](double value) {
            const auto resolution = static_cast<double>(before_.merged.one<rows::Precision>().resolution_ns);
            return percentile == nullptr ? 0 : std::max(resolution / 2, value * table::relative_error);
        };
        auto change = change_of(name, percentile == nullptr ? "mean" : percentile->text, before_values.n(),
                                after_values.n(), value_of(before_values), value_of(after_values));
        if (!all_timed) change.verdict = Verdict::untested;
        if (enough && change.change && *change.after_ns > 0)
            test(change, before[i], after[i], error_of(before[i].value), error_of(after[i].value));
        changes_.push_back(std::move(change));
    }
}

void Comparer::average(const std::string& name, const Average& average) {
    const auto* other = average_of(after_.merged, name);
    if (!average.is_time || other == nullptr || average.n == 0 || other->n == 0) return;
    auto before_blocks = blocks_of_average(before_, name), after_blocks = blocks_of_average(after_, name);
    const auto mean_of = [](const Average& one) { return one.n > 0 ? std::optional(one.mean) : std::nullopt; };
    auto change = change_of(name, "mean", average.n, other->n, mean_of(average), mean_of(*other));
    if (have_blocks(before_blocks, after_blocks) && change.change && other->mean > 0) {
        const auto before = before_blocks.estimates({}, options_.resamples, options_.seed).front();
        const auto after = after_blocks.estimates({}, options_.resamples, options_.seed + 1).front();
        test(change, before, after, average.error, other->error);
    }
    changes_.push_back(std::move(change));
}

void Comparer::total(const Breakdown& breakdown) {
    const auto* found = total_of(after_.merged, breakdown);
    if (found == nullptr) return;
    const auto name = latency::total_name(breakdown);
    if (stage_of(before_.merged, name) != nullptr) return;
    if (seen_stages(before_.merged, breakdown) != seen_stages(after_.merged, breakdown)) return;
    // None where blocks are of time, for a series has no totals.
    const auto blocks = [&](const SideBlocks& side) {
        if (!side.by_recording) return Resampling();
        return recordings_of(side, [&](const Measured& each) { return total_of(each, breakdown); });
    };
    compare(name, breakdown.total(), *found, blocks(before_), blocks(after_));
}

std::vector<Change> Comparer::finish() {
    // Holm: the smallest p times the number of tests, the next times one less, and none below the one before it.
    std::vector<Change*> tested;
    for (auto& change : changes_) {
        if (change.p) tested.push_back(&change);
    }
    std::ranges::sort(tested, {}, [](const Change* change) { return *change->p; });
    double least = 0;
    for (std::size_t i = 0; i < tested.size(); ++i) {
        auto& change = *tested[i];
        least = std::max(least, std::min(1.0, *change.p * static_cast<double>(tested.size() - i)));
        change.p = least;
        change.verdict = least >= significance ? Verdict::same : *change.change > 0 ? Verdict::slower : Verdict::faster;
        change.is_regression = change.verdict == Verdict::slower && *change.change > options_.threshold;
    }
    return std::move(changes_);
}

base::Result<void> check_blocks(const SideBlocks& side, std::string_view name) {
    if (side_of(side).blocks > 0) return {};
    return base::bad_input(
        fmt::format("{} has no times, so it has no blocks and no confidence interval", name),
        fmt::format("give {} or more recordings for each side; then each recording is a block", recordings_as_blocks));
}

}  // namespace

std::optional<std::int64_t> Side::missing_ns() const {
    const auto wanted = static_cast<double>(needed);
    if (usable >= wanted || usable <= 0 || block_ns == 0) return std::nullopt;
    const double each = static_cast<double>(block_ns) * static_cast<double>(blocks) / usable;
    return std::llround(std::min((wanted - usable) * each, 9e18));
}

bool Comparison::has_regression() const {
    return std::ranges::any_of(changes, &Change::is_regression) ||
           std::ranges::any_of(failures, &FailureChange::is_regression);
}

Outcome Comparison::outcome() const {
    if (has_regression()) return Outcome::regression;
    const bool any_tested = std::ranges::any_of(changes, [](const Change& change) { return change.p.has_value(); });
    return any_tested && !is_one_sided ? Outcome::no_regression : Outcome::none;
}

base::Result<Compared> compare(std::span<const Measured> before, std::span<const Measured> after,
                               const CompareOptions& options) {
    for (const auto side : {before, after}) {
        if (side.empty()) return base::bad_input("there is nothing to compare", "give a recording for each side");
        for (const auto& recording : side) {
            STAPGEN_TRY(check_comparable(before.front(), recording));
            STAPGEN_TRY(analyze::check_one_definition(side.front(), recording));
        }
    }
    const bool by_recording = std::min(before.size(), after.size()) >= recordings_as_blocks;
    auto first = side_blocks_of(before, by_recording, options.block_ns),
         second = side_blocks_of(after, by_recording, options.block_ns);
    STAPGEN_TRY(check_blocks(first, "before"));
    STAPGEN_TRY(check_blocks(second, "after"));

    Compared compared;
    auto& comparison = compared.comparison;
    STAPGEN_TRY(set_one_sided_stages(first.merged, second.merged, comparison));

    Comparer comparer(first, second, options);
    const bool same_stages = comparison.only_before.empty() && comparison.only_after.empty();
    for (const auto& [name, stats] : latency::whole_of(first.merged.of<rows::Stage>())) {
        if (same_stages || !is_total(name)) comparer.stage(name, *stats);
    }
    for (const auto& [name, average] : first.merged.of<rows::AverageOf>())
        comparer.average(name, average);
    for (const auto& row : first.merged.of<rows::Breakdown>())
        comparer.total(*row.breakdown);

    comparison.recipe = first.merged.recipe;
    comparison.changes = comparer.finish();
    comparison.parts = changes_of_parts(first.merged, second.merged);
    comparison.failures = changes_of_failures(first, second, options.threshold);
    comparison.warnings = doubts(before, after);
    if (!same_stages) comparison.warnings.push_back(one_sided_text(comparison));
    comparison.before = side_of(first);
    comparison.after = side_of(second);
    comparison.before.usable = comparer.usable_before();
    comparison.after.usable = comparer.usable_after();
    comparison.by_recording = by_recording;
    comparison.threshold = options.threshold;
    compared.before = std::move(first.merged);
    compared.after = std::move(second.merged);
    return compared;
}

}  // namespace stapgen::study
