// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>

#include "show/html/html_sections.h"
#include "show/model/texts.h"

namespace stapgen::show::html {

namespace {

using study::Change;
using study::Verdict;

std::string signed_percent(const std::optional<double>& part) {
    if (!part) return "-";
    return std::abs(*part) < 0.0005 ? "0.0 %" : fmt::format("{:+.1f} %", *part * 100);
}

std::string interval_of(const Change& change) {
    return change.low && change.high ? fmt::format("{} to {}", signed_percent(change.low), signed_percent(change.high))
                                     : "-";
}

Cell verdict_cell(const Change& change) {
    switch (change.verdict) {
        case Verdict::slower:
            return {.text = "\u25b2 slower", .mark = "slower"};
        case Verdict::faster:
            return {.text = "\u25bc faster", .mark = "faster"};
        case Verdict::same:
            return {.text = "~", .title = "no significant change"};
        case Verdict::too_few:
            return {.text = "too few", .title = "not enough samples or blocks of time"};
        case Verdict::untested:
            return {.text = "not tested", .title = "only the whole run's values are known"};
    }
    return {};
}

/// The scale of all ranges: of the logarithm of after / before, so that half and double are as far from no change.
class RatioScale {
  public:
    explicit RatioScale(const std::vector<Change>& changes) {
        for (const auto& change : changes) {
            if (!change.change || !change.low || !change.high) continue;
            for (const double part : {*change.low, *change.high, *change.change})
                if (part > -1) end_ = std::max(end_, std::abs(std::log2(1 + part)));
        }
    }
    [[nodiscard]] std::string name() const {
        const auto ratio = std::exp2(end_);
        if (ratio >= 3) return fmt::format("1/{0:.3g} TO {0:.3g} TIMES, LOG", ratio);
        return fmt::format("{:+.0f} % TO {:+.0f} %, LOG", (1 / ratio - 1) * 100, (ratio - 1) * 100);
    }
    /// 0 to 1; a change to nothing or less is at 0.
    [[nodiscard]] double place(double part) const {
        return part > -1 ? std::clamp(std::log2(1 + part) / end_ / 2 + 0.5, 0.0, 1.0) : 0;
    }

  private:
    double end_ = std::log2(1.1);
};

std::optional<Range> range_of(const Change& change, const RatioScale& scale) {
    if (!change.change || !change.low || !change.high) return std::nullopt;
    return Range{scale.place(*change.low), scale.place(*change.high), scale.place(*change.change), 0.5};
}

/// How far a change is from none, on the scale of ratios; those that are significant are above all others.
double effect_of(const Change& change) {
    const bool is_significant = change.verdict == Verdict::slower || change.verdict == Verdict::faster;
    const auto ratio = std::max(1 + change.change.value_or(0), 1e-9);
    return (is_significant ? 1000 : 0) + std::abs(std::log2(ratio));
}

/// The rows of a stage are together, the stage with the largest effect first.
std::vector<Change> by_effect(const std::vector<Change>& changes) {
    std::map<std::string_view, double> effects;
    for (const auto& change : changes)
        effects[change.stage] = std::max(effects[change.stage], effect_of(change));
    auto ordered = changes;
    std::ranges::stable_sort(ordered, std::greater{}, [&](const Change& change) { return effects.at(change.stage); });
    return ordered;
}

}  // namespace

std::vector<std::string> verdicts_of(const study::Comparison& comparison) {
    return {comparison.sentence() + "."};
}

Section changes_section(const study::Comparison& comparison) {
    Section section{"changes", "What has changed"};
    const RatioScale scale(comparison.changes);
    Table table{"Changes by stage and statistic, in microseconds",
                {{"STAGE", Kind::head},
                 {"STATISTIC", Kind::text},
                 {"BEFORE"},
                 {"AFTER"},
                 {"CHANGE"},
                 {"VERDICT", Kind::text},
                 {scale.name(), Kind::text},
                 {"95 % CONFIDENCE", Kind::text},
                 {"P"},
                 {"N BEFORE"},
                 {"N AFTER"}}};
    const Style style;
    std::string last;
    for (const auto& change : by_effect(comparison.changes)) {
        const bool repeated = last == change.stage;
        last = change.stage;
        const auto verdict = verdict_cell(change);
        table.rows.push_back({{.text = change.stage, .mark = repeated ? "repeated" : "first"},
                              {(change.statistic == "mean" ? "" : "P") + change.statistic},
                              {style.cell(change.before_ns)},
                              {style.cell(change.after_ns)},
                              {.text = signed_percent(change.change), .mark = verdict.mark},
                              verdict,
                              {.range = range_of(change, scale)},
                              {interval_of(change)},
                              {p_text(change.p)},
                              {fmt::format("{}", change.n_before)},
                              {fmt::format("{}", change.n_after)}});
    }
    table.below = fmt::format(
        "~: no significant difference. P: of no change, corrected for the number of rows (Holm). {}. A change of up to "
        "{:g} % is no regression.",
        blocks_text(comparison), comparison.threshold * 100);
    section.tables.push_back(std::move(table));
    if (!comparison.failures.empty()) {
        Table failures{"How many failed; P is of the share of all, and causes are not tested",
                       {{"FAILED", Kind::head}, {"BEFORE"}, {"SHARE BEFORE"}, {"AFTER"}, {"SHARE AFTER"}, {"P"}}};
        for (const auto& change : comparison.failures) {
            failures.rows.push_back({{change.cause.empty() ? "all" : change.cause},
                                     {fmt::format("{}", change.before)},
                                     {share_text(change.before_share)},
                                     {fmt::format("{}", change.after)},
                                     {share_text(change.after_share)},
                                     {p_text(change.p)}});
        }
        section.tables.push_back(std::move(failures));
    }
    if (comparison.parts.empty()) return section;
    Table parts{"What was waited for within a stage: means over all records of the stage, in microseconds",
                {{"STAGE", Kind::head}, {"PART", Kind::text}, {"BEFORE"}, {"AFTER"}, {"DIFFERENCE"}}};
    for (const auto& part : comparison.parts) {
        const bool repeated = !parts.rows.empty() && parts.rows.back().front().text == part.stage;
        parts.rows.push_back({{.text = part.stage, .mark = repeated ? "repeated" : "first"},
                              {part.cause},
                              {style.cell(part.before_ns)},
                              {style.cell(part.after_ns)},
                              {style.cell(part.after_ns - part.before_ns)}});
    }
    section.tables.push_back(std::move(parts));
    return section;
}

}  // namespace stapgen::show::html
