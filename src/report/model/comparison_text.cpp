#include "report/model/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/model/texts.h"

namespace stapgen::report {

using analyze::Change;
using analyze::Verdict;

namespace {

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

/// Of each stage the largest change that way, the stage with the largest first.
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

std::string direction_text(const std::vector<const Change*>& significant, Verdict verdict) {
    const auto stages = largest_by_stage(significant, verdict);
    std::string text;
    for (std::size_t i = 0; i < std::min(stages.size(), max_stages_named); ++i) {
        text += fmt::format("{}{} is {}: {}", text.empty() ? "" : "; ", stages[i]->stage,
                            verdict == Verdict::slower ? "slower" : "faster", in_words(*stages[i]));
    }
    if (stages.size() > max_stages_named) text += fmt::format("; and {} more stages", stages.size() - max_stages_named);
    return text;
}

std::string side_text(const analyze::Side& side) {
    const auto recordings = side.recordings == 1 ? "" : fmt::format(" of {} recordings", side.recordings);
    if (side.block_ns == 0) return fmt::format("{} intervals{}", side.blocks, recordings);
    return fmt::format("{} blocks of {}{}", side.blocks, duration_text(static_cast<double>(side.block_ns)), recordings);
}

}  // namespace

std::string change_percent(double part) {
    return fmt::format("{:+.{}f}", part * 100, std::abs(part) < 1 ? 1 : 0);
}

std::string p_text(const Change& change) {
    if (!change.p) return "-";
    return *change.p < 0.001 ? "<0.001" : fmt::format("{:.3f}", *change.p);
}

std::string statistic(const Change& change) {
    return change.statistic == "mean" ? "mean" : "p" + change.statistic;
}

std::string blocks_text(const analyze::Comparison& comparison) {
    if (comparison.by_recording) {
        return fmt::format("Each recording is a block: {} before, {} after", comparison.before.blocks,
                           comparison.after.blocks);
    }
    return fmt::format("Before: {}; after: {}", side_text(comparison.before), side_text(comparison.after));
}

std::vector<std::string> changed_stages(const analyze::Comparison& comparison) {
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

std::string comparison_sentence(const analyze::Comparison& comparison) {
    std::vector<const Change*> significant, beyond;
    bool any_tested = false;
    for (const auto& change : comparison.changes) {
        any_tested = any_tested || change.p.has_value();
        if (!is_significant(change)) continue;
        significant.push_back(&change);
        if (std::abs(*change.change) > comparison.threshold) beyond.push_back(&change);
    }
    if (!any_tested) return "not enough samples or blocks of time to tell anything; record longer";
    if (significant.empty()) return "no significant change";
    const auto slower = direction_text(beyond, Verdict::slower), faster = direction_text(beyond, Verdict::faster);
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

}  // namespace stapgen::report
