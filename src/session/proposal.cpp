// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/proposal.h"

#include <algorithm>
#include <chrono>

#include "base/saturate.h"
#include "study/why.h"

namespace stapgen::session {

namespace {

/// With fewer nothing is seldom.
constexpr std::size_t least_intervals = 20;

/// 1, 1.5, 2, 3, 5 or 7 times a power of ten, `least` or more, but for what is beyond a day.
std::int64_t readable(std::int64_t least) {
    constexpr std::int64_t day = 86'400'000'000'000;
    least = std::min(least, day);
    for (std::int64_t power = 1;; power = base::saturating_multiply(power, 10)) {
        for (const std::int64_t tenths : {10, 15, 20, 30, 50, 70}) {
            const auto number = base::saturating_multiply(power, tenths) / 10;
            if (number >= least) return number;
        }
    }
}

/// A percentile where traffic is enough for it, else the maximum.
std::vector<when::Condition> conditions_on(const std::string& part) {
    using std::chrono::seconds;
    std::vector<when::Condition> all;
    for (const auto& [statistic, window] : {std::pair{when::Statistic::percentile, seconds(1)},
                                            {when::Statistic::percentile, seconds(10)},
                                            {when::Statistic::maximum, seconds(1)}}) {
        // Each value is above that.
        all.push_back({.subject = part,
                       .statistic = statistic,
                       .percent = statistic == when::Statistic::percentile ? 99.0 : 0.0,
                       .above = -1,
                       .is_duration = true,
                       .window = window});
    }
    return all;
}

bool is_recipe(const recipe::Catalog& catalog, const std::string& name) {
    return std::ranges::find(catalog.recipes, name, &recipe::Recipe::name) != catalog.recipes.end();
}

}  // namespace

std::optional<rows::Proposal> proposal_of(when::Condition condition, std::span<const when::Met> values) {
    if (values.size() < least_intervals) return std::nullopt;
    std::vector<std::int64_t> sorted;
    for (const auto& met : values)
        sorted.push_back(met.value);
    std::ranges::sort(sorted);
    // Of a recording that is short what stands out may be more than a tenth.
    for (const std::size_t percent : {90U, 80U, 75U}) {
        const auto most = sorted[(sorted.size() * percent + 99) / 100 - 1];
        condition.above = readable(std::max(most, base::saturating_multiply(sorted[sorted.size() / 2], 2)));
        if (condition.above < sorted.back()) break;
    }
    rows::Proposal proposal{
        .condition = condition.text(), .intervals = std::ssize(sorted), .largest_ns = sorted.back()};
    bool holds = false;
    for (const auto& met : values) {
        // Each of them is one that holds: it is so anew behind a gap.
        const bool held_before = holds && !met.anew;
        holds = met.value > condition.above;
        proposal.held += holds;
        proposal.times += holds && !held_before;
    }
    return sorted.back() > 0 ? std::optional(proposal) : std::nullopt;
}

void put_proposal(const std::vector<std::filesystem::path>& files, const Presentation& presentation,
                  ReplayOptions options, const recipe::Catalog& catalog, kinds::Measured& measured) {
    std::error_code error;
    const bool is_one_file = files.size() == 1 && std::filesystem::is_regular_file(files.front(), error);
    if (!is_one_file || measured.recordings != 1 || !is_recipe(catalog, measured.recipe)) return;
    const auto part = study::part_to_watch(results_of(measured, presentation));
    if (part.empty()) return;
    options.when = conditions_on(part);
    std::vector<std::vector<when::Met>> values(options.when.size());
    options.met = [&](const when::Met& met) { values[met.condition].push_back(met); };
    // What is wrong with it was said when it was read before.
    if (!watch(files.front(), presentation, options)) return;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto proposal = proposal_of(options.when[i], values[i]);
        if (!proposal) continue;
        measured.of<rows::Proposal>() = {*proposal};
        return;
    }
}

}  // namespace stapgen::session
