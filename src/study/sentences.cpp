// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/sentences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "table/texts.h"

namespace stapgen::study {

namespace {

using table::duration_text;

constexpr std::size_t max_stages_named = 3;

bool is_significant(const Change& change) {
    return change.verdict == Verdict::slower || change.verdict == Verdict::faster;
}

double size_of(const Change& change) {
    return std::abs(std::log1p(*change.change));
}

std::string in_words(const Change& change) {
    return fmt::format("{} {} % [{} %, {} %], from {} to {}", statistic(change), change_percent(*change.change),
                       change_percent(*change.low), change_percent(*change.high), duration_text(*change.before_ns),
                       duration_text(*change.after_ns));
}

/// Of each stage the largest change in that direction, the stage with the largest first.
std::vector<const Change*> largest_by_stage(const std::vector<const Change*>& significant, Verdict verdict) {
    std::vector<const Change*> largest;
    for (const auto* change : significant) {
        if (change->verdict != verdict) continue;
        const auto known =
            std::ranges::find_if(largest, [&](const Change* other) { return other->stage == change->stage; });
        if (known == largest.end()) {
            largest.push_back(change);
        } else if (size_of(*change) > size_of(**known)) {
            *known = change;
        }
    }
    std::ranges::stable_sort(largest, std::greater{}, [](const Change* change) { return size_of(*change); });
    return largest;
}

/// " (on average +38.0 ms, nagle +37.9 ms of it)": the part that has changed most the same way; empty where it has
/// less than half of it.
std::string part_text(const Comparison& comparison, const Change& change) {
    constexpr double half = 0.5;
    double all = 0;
    const PartChange* most = nullptr;
    const auto rise = [&](const PartChange& part) {
        return (part.after_ns - part.before_ns) * (change.verdict == Verdict::slower ? 1 : -1);
    };
    for (const auto& part : comparison.parts) {
        if (part.stage != change.stage) continue;
        all += rise(part);
        if (most == nullptr || rise(part) > rise(*most)) most = &part;
    }
    if (most == nullptr || all <= 0 || rise(*most) < half * all) return {};
    const char sign = change.verdict == Verdict::slower ? '+' : '-';
    return fmt::format(" (on average {0}{1}, {2} {0}{3} of it)", sign, duration_text(all), most->cause,
                       duration_text(rise(*most)));
}

std::string direction_text(const Comparison& comparison, const std::vector<const Change*>& significant,
                           Verdict verdict) {
    const auto stages = largest_by_stage(significant, verdict);
    std::string text;
    for (std::size_t i = 0; i < std::min(stages.size(), max_stages_named); ++i) {
        text += fmt::format("{}{} is {}: {}{}", text.empty() ? "" : "; ", stages[i]->stage,
                            verdict == Verdict::slower ? "slower" : "faster", in_words(*stages[i]),
                            part_text(comparison, *stages[i]));
    }
    if (stages.size() > max_stages_named) text += fmt::format("; and {} more stages", stages.size() - max_stages_named);
    return text;
}

std::string side_text(const Side& side) {
    const auto recordings = side.recordings == 1 ? "" : fmt::format(" of {} recordings", side.recordings);
    const auto* const plural = side.blocks == 1 ? "" : "s";
    if (side.block_ns == 0) return fmt::format("{} interval{}{}", side.blocks, plural, recordings);
    return fmt::format("{} block{} of {}{}", side.blocks, plural, duration_text(static_cast<double>(side.block_ns)),
                       recordings);
}

/// What a side lacks for a test; empty if nothing.
std::string shortage(std::string_view name, const Side& side, bool by_recording) {
    if (side.usable >= static_cast<double>(side.needed)) return {};
    const auto unit = by_recording ? "recordings with values" : side.block_ns == 0 ? "intervals" : "blocks";
    // Blocks that are almost even are as many as they are: both numbers are rounded to a tenth first.
    constexpr double tenths = 10, second = 1e9;
    const auto in_tenths = [](double number) { return std::round(number * tenths) / tenths; };
    const auto usable = std::min(in_tenths(side.usable), static_cast<double>(side.needed) - 1 / tenths);
    auto text = fmt::format("{} has {} of {} {}", name, usable, side.needed, unit);
    if (const auto missing = side.missing_ns())
        text += fmt::format(", record {:.0f} s more", std::ceil(in_tenths(static_cast<double>(*missing) / second)));
    return text;
}

/// "failures rose from 0.30 % (3) to 5.05 % (51), refused 2 to 50; ": where that is significant, with the cause that
/// changed most.
std::string failures_text(const Comparison& comparison) {
    if (comparison.failures.empty()) return {};
    const auto& all = comparison.failures.front();
    if (!all.p || *all.p >= significance) return {};
    auto text = fmt::format("failures {} from {} ({}) to {} ({})", all.after_share > all.before_share ? "rose" : "fell",
                            share_text(all.before_share), all.before, share_text(all.after_share), all.after);
    const auto size = [](const FailureChange& change) { return std::abs(change.after - change.before); };
    const auto causes = std::span(comparison.failures).subspan(1);
    const auto most = std::ranges::max_element(causes, {}, size);
    if (most != causes.end()) text += fmt::format(", {} from {} to {}", most->cause, most->before, most->after);
    return text + "; ";
}

std::string no_result_text(const Comparison& comparison) {
    if (comparison.is_one_sided) {
        std::vector<std::string> sides;
        for (const auto& [name, stages] :
             {std::pair("before", &comparison.only_before), {"after", &comparison.only_after}}) {
            if (!stages->empty()) sides.push_back(fmt::format("only {} has {}", name, fmt::join(*stages, ", ")));
        }
        return fmt::format("no result: {}", fmt::join(sides, ", "));
    }
    const auto is_untested = [](const Change& change) { return change.verdict == Verdict::untested; };
    if (std::ranges::all_of(comparison.changes, is_untested)) return "no result: only the whole run's values are known";
    const auto before = shortage("before", comparison.before, comparison.by_recording);
    const auto after = shortage("after", comparison.after, comparison.by_recording);
    if (before.empty() && after.empty()) return "no result: not enough samples above 0";
    return fmt::format("no result: {}{}{}", before, before.empty() || after.empty() ? "" : "; ", after);
}

std::string stages_text(const Comparison& comparison) {
    std::vector<const Change*> significant, beyond;
    for (const auto& change : comparison.changes) {
        if (!is_significant(change)) continue;
        significant.push_back(&change);
        if (std::abs(*change.change) > comparison.threshold) beyond.push_back(&change);
    }
    if (significant.empty())
        return failures_text(comparison).empty() ? "no significant change" : "no stage changed significantly";
    const auto slower = direction_text(comparison, beyond, Verdict::slower),
               faster = direction_text(comparison, beyond, Verdict::faster);
    if (beyond.empty()) {
        const auto* largest =
            *std::ranges::max_element(significant, {}, [](const Change* change) { return size_of(*change); });
        return fmt::format("nothing changed by more than {:.4g} %; the largest change: {} {}",
                           comparison.threshold * 100, largest->stage, in_words(*largest));
    }
    const auto is_named = [&](const Change* change) {
        return std::ranges::any_of(beyond, [&](const Change* other) { return other->stage == change->stage; });
    };
    const bool all_named = std::ranges::all_of(significant, is_named);
    return fmt::format("{}{}{}; {}", slower, slower.empty() || faster.empty() ? "" : "; ", faster,
                       all_named
                           ? "no other stage changed significantly"
                           : fmt::format("other stages changed by less than {:.4g} %", comparison.threshold * 100));
}

}  // namespace

std::string change_percent(double part) {
    return fmt::format("{:+.{}f}", part * 100, std::abs(part) < 1 ? 1 : 0);
}

std::string share_text(std::optional<double> share) {
    return share ? fmt::format("{:.2f} %", *share * 100) : "-";
}

std::string p_text(std::optional<double> p) {
    if (!p) return "-";
    return *p < 0.001 ? "<0.001" : fmt::format("{:.3f}", *p);
}

std::string statistic(const Change& change) {
    return change.statistic == "mean" ? "mean" : "p" + change.statistic;
}

std::string blocks_text(const Comparison& comparison) {
    if (comparison.by_recording) {
        return fmt::format("Each recording is a block: {} before, {} after", comparison.before.blocks,
                           comparison.after.blocks);
    }
    return fmt::format("Before: {}; after: {}", side_text(comparison.before), side_text(comparison.after));
}

std::vector<std::string> changed_stages(const Comparison& comparison) {
    std::vector<const Change*> significant;
    for (const auto& change : comparison.changes) {
        if (is_significant(change)) significant.push_back(&change);
    }
    std::vector<std::string> stages;
    for (const auto verdict : {Verdict::slower, Verdict::faster}) {
        for (const auto* change : largest_by_stage(significant, verdict))
            stages.push_back(change->stage);
    }
    return stages;
}

std::string Comparison::sentence() const {
    return outcome() == Outcome::none ? no_result_text(*this) : failures_text(*this) + stages_text(*this);
}

std::string_view name_of(Verdict verdict) {
    static constexpr std::array<std::string_view, 5> names{"same", "slower", "faster", "too_few", "untested"};
    return names.at(static_cast<std::size_t>(verdict));
}

std::string_view name_of(Outcome outcome) {
    static constexpr std::array<std::string_view, 3> names{"none", "no-regression", "regression"};
    return names.at(static_cast<std::size_t>(outcome));
}

}  // namespace stapgen::study
