// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/compare_failures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "kinds/latency/latency.h"
#include "study/resampling.h"
#include "study/t_test.h"
#include "table/texts.h"

namespace stapgen::study {

namespace {

namespace latency = kinds::latency;

std::int64_t count_of(const Measured& measured, std::string_view stage) {
    const auto* values = latency::stage_of(measured, stage);
    return values == nullptr ? 0 : values->n();
}

std::int64_t records_of(const Measured& measured) {
    return count_of(measured, stage_of_failures) + count_of(measured, stage_of_others);
}

std::optional<double> share_of(std::int64_t failures, std::int64_t records) {
    if (records == 0) return std::nullopt;
    return static_cast<double>(failures) / static_cast<double>(records);
}

std::map<std::string, std::int64_t> by_cause(const Measured& measured) {
    std::map<std::string, std::int64_t> causes;
    if (measured.one<rows::Counting>().counted != "failures") return causes;
    for (const auto& row : measured.of<rows::OfInterval<rows::Count>>())
        if (!row.group.empty()) causes[table::group_text(row.group.front())] += row.count;
    return causes;
}

/// What failed of each block, as a mean of zeros and ones.
Resampling blocks_of(const SideBlocks& side) {
    Resampling blocks;
    const auto add = [&](std::int64_t failures, std::int64_t records, bool follows) {
        table::Average average{.is_time = false, .n = records};
        average.mean = share_of(failures, records).value_or(0);
        blocks.add(average, follows);
    };
    if (side.by_recording) {
        for (const auto& recording : side.recordings)
            add(count_of(recording, stage_of_failures), records_of(recording), false);
        return blocks;
    }
    const auto stages = latency::whole_of(side.merged.of<rows::Stage>());
    const table::Block* last = nullptr;
    for (const auto& block : side.series.blocks()) {
        const auto n_of = [&](std::string_view name) {
            const auto found = std::ranges::find(stages, name, &latency::Measures::value_type::first);
            const auto place = static_cast<std::size_t>(found - stages.begin());
            return place < block.stages.size() ? block.stages[place].n() : 0;
        };
        const auto failures = n_of(stage_of_failures);
        add(failures, failures + n_of(stage_of_others),
            last != nullptr && block.start_ns - last->start_ns < 2 * side.series.block_ns());
        last = &block;
    }
    return blocks;
}

/// Of "no change": Welch's t of the two shares. A share of all or nothing is one record away from another.
std::optional<double> test(const SideBlocks& before, const SideBlocks& after) {
    const auto one = blocks_of(before), other = blocks_of(after);
    if (one.n() != records_of(before.merged) || other.n() != records_of(after.merged)) return std::nullopt;
    const auto needed = static_cast<double>(before.needed());
    if (one.effective_blocks() < needed || other.effective_blocks() < needed) return std::nullopt;
    const auto variance_of = [](const Share& share, std::int64_t n) {
        return std::pow(std::max(share.error, 1 / static_cast<double>(n)), 2);
    };
    const auto first = one.share(), second = other.share();
    const double first_variance = variance_of(first, one.n()), second_variance = variance_of(second, other.n());
    const double variance = first_variance + second_variance;
    const double degrees = std::pow(variance, 2) / (std::pow(first_variance, 2) / first.degrees +
                                                    std::pow(second_variance, 2) / second.degrees);
    return TTest(second.value - first.value, std::sqrt(variance), degrees).p;
}

}  // namespace

std::vector<FailureChange> changes_of_failures(const SideBlocks& before, const SideBlocks& after, double threshold) {
    const auto records_before = records_of(before.merged), records_after = records_of(after.merged);
    const auto change_of = [&](std::string cause, std::int64_t failed_before, std::int64_t failed_after) {
        return FailureChange{std::move(cause),
                             failed_before,
                             failed_after,
                             share_of(failed_before, records_before),
                             share_of(failed_after, records_after),
                             {},
                             false};
    };
    auto all = change_of("", count_of(before.merged, stage_of_failures), count_of(after.merged, stage_of_failures));
    if (all.before + all.after == 0) return {};
    all.p = test(before, after);
    const double limit = all.before_share.value_or(0) * (1 + threshold);
    all.is_regression = all.p.value_or(1) < significance && all.after_share.value_or(0) > limit;

    std::vector<FailureChange> changes{std::move(all)};
    const auto causes_before = by_cause(before.merged), causes_after = by_cause(after.merged);
    auto causes = causes_before;
    causes.insert(causes_after.begin(), causes_after.end());
    const auto in = [](const std::map<std::string, std::int64_t>& counts, const std::string& cause) {
        const auto found = counts.find(cause);
        return found == counts.end() ? 0 : found->second;
    };
    for (const auto& [cause, count] : causes)
        changes.push_back(change_of(cause, in(causes_before, cause), in(causes_after, cause)));
    std::stable_sort(changes.begin() + 1, changes.end(), [](const FailureChange& one, const FailureChange& other) {
        return one.before + one.after > other.before + other.after;
    });
    return changes;
}

}  // namespace stapgen::study
