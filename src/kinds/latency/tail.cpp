// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/latency/tail.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "schema/schema.h"
#include "table/texts.h"

namespace stapgen::kinds::latency {

namespace {

using Tail = table::Breakdown::Tail;
using Share = Tail::Share;
using table::duration_text;

/// The share of the excess to explain, and the limit of stages for it; else none of them stands out.
constexpr double covering = 0.8;
constexpr std::size_t max_named = 3;
/// Where no stage has more of the excess than `half`, and the part of none has changed by more than this, all of them
/// have grown alike.
constexpr double half = 0.5;
constexpr double alike = 0.05;

/// Never rounded to nothing or to all of it.
std::string percent_text(double part) {
    if (part > 0 && part < 0.005) return "under 1 %";
    if (part < 1 && part >= 0.995) return "over 99 %";
    return fmt::format("{:.0f} %", std::clamp(part, 0.0, 1.0) * 100);
}

std::string times_text(double times) {
    if (times >= 9.95) return fmt::format("{} times", base::with_commas(std::llround(std::min(times, 9e18))));
    return fmt::format("{:.{}f} times", times, times < 1.995 ? 2 : 1);
}

/// The parts of a stage that is divided, which add up to it, or the stage itself.
std::vector<const Share*> finest(const Tail& tail) {
    std::vector<const Share*> all;
    for (const auto& share : tail.shares) {
        const auto divides_it = [&](const Share& of) {
            return schema::divided_stage(of.stage) == share.stage && of.slow_mean_ns + of.rest_mean_ns > 0;
        };
        if (std::ranges::none_of(tail.shares, divides_it)) all.push_back(&share);
    }
    return all;
}

/// The stages with the most of the excess first, as many as cover enough of it; nothing where none stands out.
std::vector<const Share*> outstanding(const Tail& tail) {
    auto order = finest(tail);
    std::ranges::stable_sort(order, [](const Share* a, const Share* b) { return a->of_excess > b->of_excess; });
    const bool in_proportion =
        order.size() > 1 && order.front()->of_excess < half &&
        std::ranges::all_of(order, [](const Share* s) { return std::abs(s->slow - s->rest) < alike; });
    double covered = 0;
    std::vector<const Share*> named;
    for (const auto* share : order) {
        if (covered >= covering || in_proportion || share->of_excess <= 0) break;
        covered += share->of_excess;
        named.push_back(share);
    }
    if (covered < covering || named.size() > max_named) named.clear();
    return named;
}

std::string share_name(const Share& share) {
    return base::printable(share.stage);
}

/// "tcp-app causes 94 % of the extra time: 97 % of the slow records' time, 91 % of the rest's"
std::string excess_text(const Tail& tail) {
    const auto times = [&](const Share& share) {
        return fmt::format("{} of the slow {} time, {} of the rest's", percent_text(share.slow),
                           tail.n_slow == 1 ? "record's" : "records'", percent_text(share.rest));
    };
    const auto named = outstanding(tail);
    if (named.empty()) {
        const auto& largest = *std::ranges::max(finest(tail), {}, [](const Share* s) { return s->of_excess; });
        return fmt::format("no stage stands out: {} has most of the extra time, {}: {}", share_name(largest),
                           percent_text(largest.of_excess), times(largest));
    }
    const auto& first = *named.front();
    const auto causes = fmt::format("{} causes {} the extra time", share_name(first),
                                    first.of_excess >= 1 ? std::string("all") : percent_text(first.of_excess) + " of");
    if (named.size() == 1) return fmt::format("{}: {}", causes, times(first));
    auto text = fmt::format("{} ({})", causes, times(first));
    for (std::size_t i = 1; i < named.size(); ++i) {
        text +=
            fmt::format("{} {} {} ({}, {})", i + 1 < named.size() ? "," : " and", share_name(*named[i]),
                        percent_text(named[i]->of_excess), percent_text(named[i]->slow), percent_text(named[i]->rest));
    }
    return text;
}

}  // namespace

std::string tail_sentence(const table::Breakdown& breakdown, double percent) {
    const auto n = breakdown.total().n();
    if (n == 0) return {};
    const auto direction = breakdown.direction().empty() ? "" : base::printable(breakdown.direction()) + " ";
    const auto threshold = breakdown.total().percentile(percent);
    if (!threshold) {
        return fmt::format("{} {}record{} {} too few to explain those above p{}: {} are needed.", base::with_commas(n),
                           direction, n == 1 ? "" : "s", n == 1 ? "is" : "are", percent,
                           base::with_commas(table::values_needed(percent)));
    }
    const auto limit = duration_text(static_cast<double>(*threshold));
    const auto tail = breakdown.tail(percent);
    if (!tail || tail->shares.empty()) {
        return fmt::format("None of {} {}records is clearly above the p{} of {}: there is no tail.",
                           base::with_commas(n), direction, percent, limit);
    }
    const bool one = tail->n_slow == 1;
    // Of many equal ones there are more.
    const bool are_many = static_cast<double>(tail->n_slow) > 1.5 * (1 - percent / 100) * static_cast<double>(n);
    const auto who = fmt::format("The {}slowest of {} {}records ({} the p{} of {})",
                                 one ? "" : base::with_commas(tail->n_slow) + " ", base::with_commas(n), direction,
                                 are_many ? "from" : "above", percent, limit);
    const auto means = fmt::format("{} against {}{}", duration_text(tail->slow_mean_ns),
                                   duration_text(tail->rest_mean_ns), tail->n_slow == 1 ? "" : " on average");
    if (tail->slow_mean_ns <= tail->rest_mean_ns) {
        return fmt::format(
            "{} {} no more time in the stages than the others ({}): the extra time is between the stages.", who,
            one ? "spends" : "spend", means);
    }
    if (tail->rest_mean_ns <= 0) {
        return fmt::format("{} {} {} in the stages, the others nothing; {}.", who, one ? "spends" : "spend",
                           duration_text(tail->slow_mean_ns), excess_text(*tail));
    }
    return fmt::format("{} {} {} as long as the others ({}); {}.", who, one ? "takes" : "take",
                       times_text(tail->slow_mean_ns / tail->rest_mean_ns), means, excess_text(*tail));
}

std::string stage_of_tail(const Tail& tail) {
    if (tail.shares.empty() || tail.slow_mean_ns <= tail.rest_mean_ns) return {};
    const auto named = outstanding(tail);
    return named.empty() ? std::string() : named.front()->stage;
}

}  // namespace stapgen::kinds::latency
