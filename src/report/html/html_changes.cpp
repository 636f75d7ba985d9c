// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/html/html_sections.h"
#include "report/model/texts.h"

namespace stapgen::report::html {

namespace {

using analyze::Change;
using analyze::Verdict;

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
            return {.text = "not tested", .title = "its values have no times"};
    }
    return {};
}

/// The scale of all ranges, from `-end` to `end`. Linear up to 100 %; beyond, one wild interval would press the others
/// flat, so it is logarithmic but for the part around 0.
class Scale {
  public:
    explicit Scale(const std::vector<Change>& changes) {
        for (const auto& change : changes) {
            if (change.change && change.low && change.high) {
                end_ = std::max({end_, std::abs(*change.low), std::abs(*change.high)});
            }
        }
        end_ = std::min(end_, 1000.0);
    }
    [[nodiscard]] std::string name() const {
        return fmt::format("-{0:.0f} % TO +{0:.0f} %{1}", end_ * 100, is_linear() ? "" : ", LOGARITHMIC");
    }
    /// 0 to 1.
    [[nodiscard]] double place(double part) const {
        constexpr double linear_part = 0.1;
        const auto at = is_linear() ? part / end_ : std::asinh(part / linear_part) / std::asinh(end_ / linear_part);
        return std::clamp(at / 2 + 0.5, 0.0, 1.0);
    }

  private:
    [[nodiscard]] bool is_linear() const { return end_ <= 1; }
    double end_ = 0.1;
};

std::optional<Range> range_of(const Change& change, const Scale& scale) {
    if (!change.change || !change.low || !change.high) return std::nullopt;
    return Range{scale.place(*change.low), scale.place(*change.high), scale.place(*change.change), 0.5};
}

}  // namespace

std::vector<std::string> verdicts_of(const analyze::Comparison& comparison) {
    return {comparison_sentence(comparison) + "."};
}

Section changes_section(const analyze::Comparison& comparison) {
    Section section{"changes", "What has changed"};
    const Scale scale(comparison.changes);
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
    const std::string* last = nullptr;
    for (const auto& change : comparison.changes) {
        const bool repeated = last != nullptr && *last == change.stage;
        last = &change.stage;
        table.rows.push_back({{.text = change.stage, .mark = repeated ? "repeated" : "first"},
                              {(change.statistic == "mean" ? "" : "P") + change.statistic},
                              {style.cell(change.before_ns)},
                              {style.cell(change.after_ns)},
                              {signed_percent(change.change)},
                              verdict_cell(change),
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
    return section;
}

}  // namespace stapgen::report::html
