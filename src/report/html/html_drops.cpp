// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <span>

#include "base/saturate.h"
#include "report/html/html_scale.h"
#include "report/html/html_sections.h"
#include "report/model/layout.h"
#include "report/model/results.h"
#include "report/model/texts.h"

namespace stapgen::report::html {

namespace {

using table::Scope;

/// The reasons with the most drops, the largest first: as many as have a column and a colour.
std::vector<std::string> charted_reasons(std::span<const analyze::Drop> drops) {
    constexpr std::size_t most = 7;
    std::map<std::string, std::int64_t> sums;
    for (const auto& drop : drops)
        base::add_saturating(sums[reason_text(drop.reason)], drop.count);
    std::vector<std::string> reasons;
    for (const auto& [reason, sum] : sums)
        reasons.push_back(reason);
    std::ranges::stable_sort(reasons, std::greater{}, [&](const std::string& reason) { return sums.at(reason); });
    if (reasons.size() > most) reasons.resize(most);
    return reasons;
}

/// "12.5": since the measurement began; "-" where it is not known.
std::string since_start(const analyze::Summary& summary, const std::optional<std::int64_t>& epoch_ns) {
    if (!epoch_ns || !summary.start_epoch_ns) return "-";
    return fmt::format("{:.3f}",
                       static_cast<double>(base::saturating_subtract(*epoch_ns, *summary.start_epoch_ns)) / 1e9);
}

/// Drops of each interval, the sum in front, then those of each reason.
struct IntervalDrops {
    std::vector<std::string> reasons;
    std::vector<std::vector<std::int64_t>> counts;
};

IntervalDrops interval_drops(const Report& report) {
    const auto& summary = report.summary;
    IntervalDrops drops{charted_reasons(report.interval_drops.rows), {}};
    auto& [reasons, counts] = drops;
    counts.assign(summary.intervals.size(), std::vector<std::int64_t>(reasons.size() + 1));
    for (const auto& drop : summary.drops) {
        const auto interval = static_cast<std::size_t>(drop.interval);
        if (interval >= counts.size()) continue;
        base::add_saturating(counts[interval].front(), drop.count);
        const auto reason = std::ranges::find(reasons, reason_text(drop.reason));
        if (reason == reasons.end()) continue;
        base::add_saturating(counts[interval][static_cast<std::size_t>(reason - reasons.begin()) + 1], drop.count);
    }
    return drops;
}

/// By reason; what has no column of its own is in DROPS alone.
Table interval_table(const analyze::Summary& summary, const IntervalDrops& drops) {
    const auto& [reasons, counts] = drops;
    Table table{"Drops in each interval", {{"FROM [s]"}, {"TO [s]"}, {"ENDED", Kind::text}, {"DROPS"}}};
    for (const auto& reason : reasons)
        table.columns.push_back({reason});
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto& interval = summary.intervals[i];
        auto& row = table.rows.emplace_back();
        row.push_back({since_start(summary, interval.start_epoch_ns)});
        row.push_back({since_start(summary, interval.end_epoch_ns)});
        row.push_back({end_text(interval.end_epoch_ns)});
        for (const auto count : counts[i])
            row.push_back({fmt::format("{}", count)});
    }
    return table;
}

/// What is drawn as one column.
struct DropColumn {
    Span span;
    std::vector<std::int64_t> counts;  ///< as those of IntervalDrops
    [[nodiscard]] double per_second(std::int64_t count) const {
        return static_cast<double>(count) * 1e9 / static_cast<double>(span.end_ns - span.start_ns);
    }
};

/// Of intervals that have times; neighbours are joined until there are `max_columns`.
std::vector<DropColumn> columns_of(const analyze::Summary& summary, const IntervalDrops& drops) {
    constexpr std::size_t max_columns = 128;
    const auto& counts = drops.counts;
    const auto each = (counts.size() + max_columns - 1) / max_columns;
    std::vector<DropColumn> columns;
    for (std::size_t i = 0, in_column = 0; i < counts.size(); ++i) {
        const auto& [start, end] = summary.intervals[i];
        if (!start || !end || *end <= *start) continue;
        const bool follows = !columns.empty() && *start - columns.back().span.end_ns < *end - *start;
        if (!follows || in_column == each) {
            columns.push_back({{*start, *end}, counts[i]});
            in_column = 1;
            continue;
        }
        columns.back().span.end_ns = *end;
        for (std::size_t reason = 0; reason < counts[i].size(); ++reason)
            base::add_saturating(columns.back().counts[reason], counts[i][reason]);
        ++in_column;
    }
    return columns;
}

/// Drops in a second by reason, a column for each interval. None where intervals have no times.
std::vector<Plot> drop_columns(const analyze::Summary& summary, const IntervalDrops& drops) {
    const auto columns = columns_of(summary, drops);
    std::vector<Span> spans;
    double highest = 0;
    for (const auto& column : columns) {
        spans.push_back(column.span);
        highest = std::max(highest, column.per_second(column.counts.front()));
    }
    if (columns.size() < 2 || highest <= 0) return {};
    const TimeColumns time(spans);
    Plot plot{.name = "Drops per second",
              .caption = "by reason; " + time.caption(),
              .width = static_cast<int>(time.count()),
              .x = time.ticks(),
              .y = linear_ticks(static_cast<std::int64_t>(std::ceil(highest)), false)};
    for (const auto gap : time.gaps())
        plot.shapes.push_back({"gap", rectangle(static_cast<double>(gap), 0, 1, 100)});
    std::vector<double> tops(columns.size());  // from the bottom
    const auto add = [&](const std::string& reason, std::size_t colour, const auto& count_of) {
        Shape shape{"area " + colour_classes(colour), {}};
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto height = columns[i].per_second(count_of(columns[i])) / std::max(1.0, std::ceil(highest)) * 100;
            if (height <= 0) continue;
            tops[i] += height;
            shape.path += rectangle(static_cast<double>(time.columns()[i]), 100 - tops[i], 1, height);
        }
        if (shape.path.empty()) return;
        plot.shapes.push_back(std::move(shape));
        plot.legend.push_back({reason, 0, colour});
    };
    for (std::size_t reason = 0; reason < drops.reasons.size(); ++reason)
        add(drops.reasons[reason], reason, [&](const DropColumn& column) { return column.counts[reason + 1]; });
    add("other", drops.reasons.size(), [](const DropColumn& column) {
        auto rest = column.counts.front();
        for (std::size_t reason = 1; reason < column.counts.size(); ++reason)
            rest -= column.counts[reason];
        return rest;
    });
    return {std::move(plot)};
}

}  // namespace

Section drops_section(const Report& report) {
    Section section{"drops", "Drops"};
    const auto& [rows, hidden, hidden_rows] = report.drops;
    if (report.summary.counts_drops) {
        section.paragraphs.push_back(report.drops_title);
        if (hidden_rows > 0) section.paragraphs.push_back(hidden_text(report.drops));
        if (any_benign(rows)) section.paragraphs.emplace_back(benign_legend);
        if (!rows.empty())
            section.tables.push_back(
                bounded(laid_out(drops_table(report, rows, Scope::whole), "Drops by place and reason",
                                 base::saturating_add(analyze::sum_of(rows), hidden))));
        if (!report.advice.empty())
            section.tables.push_back(
                bounded(laid_out(advice_table(report.advice), "What the reasons mean, and where to look")));
        if (!report.stacks.empty())
            section.tables.push_back(bounded(laid_out(stacks_table(report, report.stacks, Scope::whole),
                                                      report.stacks_title, analyze::sum_of(report.summary.stacks))));
        if (report.summary.intervals.size() > 1) {
            const auto drops = interval_drops(report);
            section.plots = drop_columns(report.summary, drops);
            section.tables.push_back(bounded(interval_table(report.summary, drops)));
            if (!report.interval_drops.rows.empty())
                section.tables.push_back(
                    bounded(laid_out(drops_table(report, report.interval_drops.rows, Scope::intervals),
                                     "Places and reasons in each interval")));
        }
    }
    if (auto counters = losses_table(report.summary); !counters.rows.empty())
        section.tables.push_back(std::move(counters));
    return section;
}

}  // namespace stapgen::report::html
