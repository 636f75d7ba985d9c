// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "base/saturate.h"
#include "show/html/html_scale.h"
#include "show/html/html_sections.h"
#include "show/model/layout.h"
#include "show/model/texts.h"
#include "table/merge.h"

namespace stapgen::show::html {

namespace {

using DropOfInterval = rows::OfInterval<rows::Drop>;

/// The reasons with the most drops, the largest first: as many as have a column and a colour.
std::vector<std::string> charted_reasons(const std::vector<DropOfInterval>& drops) {
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

/// Drops of each interval, the sum in front, then those of each reason.
struct IntervalDrops {
    /// When it began and ended, as far as that is known.
    struct Interval {
        std::optional<std::int64_t> start_ns, end_ns;
        std::vector<std::int64_t> counts;
    };
    std::vector<std::string> reasons;
    std::vector<Interval> intervals;
};

IntervalDrops interval_drops(const rows::Results& results) {
    IntervalDrops drops{charted_reasons(results.of<DropOfInterval>()), {}};
    auto& [reasons, intervals] = drops;
    for (const auto& [number, start, end] : results.of<rows::Interval>())
        intervals.push_back({start, end, std::vector<std::int64_t>(reasons.size() + 1)});
    const auto add = [&](const auto& rows) {
        for (const auto& row : rows) {
            const auto interval = static_cast<std::size_t>(row.interval);
            if (interval >= intervals.size()) continue;
            auto& counts = intervals[interval].counts;
            base::add_saturating(counts.front(), row.count);
            const auto reason = std::ranges::find(reasons, reason_text(row.reason));
            if (reason != reasons.end())
                base::add_saturating(counts[static_cast<std::size_t>(reason - reasons.begin()) + 1], row.count);
        }
    };
    add(results.of<DropOfInterval>());
    add(results.of<rows::HiddenOfInterval>());
    return drops;
}

/// By reason; what has no column of its own is in DROPS alone. Seconds are since the measurement began, "12.5".
Table interval_table(const IntervalDrops& drops, std::optional<std::int64_t> start_ns) {
    const auto since_start = [&](std::optional<std::int64_t> time_ns) -> Cell {
        if (!time_ns || !start_ns) return {"-"};
        return {fmt::format("{:.3f}", static_cast<double>(base::saturating_subtract(*time_ns, *start_ns)) / 1e9)};
    };
    Table table{"Drops in each interval", {{"FROM [s]"}, {"TO [s]"}, {"ENDED", Kind::text}, {"DROPS"}}};
    for (const auto& reason : drops.reasons)
        table.columns.push_back({reason});
    for (const auto& [start, end, counts] : drops.intervals) {
        auto& row = table.rows.emplace_back(std::vector<Cell>{since_start(start), since_start(end), {end_text(end)}});
        for (const auto count : counts)
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
std::vector<DropColumn> columns_of(const IntervalDrops& drops) {
    constexpr std::size_t max_columns = 128;
    const auto each = (drops.intervals.size() + max_columns - 1) / max_columns;
    std::vector<DropColumn> columns;
    std::size_t in_column = 0;
    for (const auto& [start, end, counts] : drops.intervals) {
        if (!start || !end || *end <= *start) continue;
        const bool follows = !columns.empty() && *start - columns.back().span.end_ns < *end - *start;
        if (!follows || in_column == each) {
            columns.push_back({{*start, *end}, counts});
            in_column = 1;
            continue;
        }
        columns.back().span.end_ns = *end;
        for (std::size_t reason = 0; reason < counts.size(); ++reason)
            base::add_saturating(columns.back().counts[reason], counts[reason]);
        ++in_column;
    }
    return columns;
}

/// Drops in a second by reason, a column for each interval. None where intervals have no times.
std::vector<Plot> drop_columns(const IntervalDrops& drops) {
    const auto columns = columns_of(drops);
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
              .y = linear_ticks(static_cast<std::int64_t>(std::ceil(highest)), false),
              .x_scale = time.formula(),
              .y_scale = fmt::format("linear 0 {}", std::ceil(highest))};
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

void draw(Section& to, section::Drops /*section*/, const Report& of) {
    const auto& results = of.results;
    const auto& drops = results.of<rows::Drop>();
    to.paragraphs = {results.sentences.drops};
    if (auto hidden = hidden_text(results); !hidden.empty()) to.paragraphs.push_back(std::move(hidden));
    if (any_benign(drops)) to.paragraphs.emplace_back(benign_legend);
    const auto add = [&](const auto& rows, std::string caption, std::optional<std::int64_t> whole = {}) {
        if (!rows.empty()) to.tables.push_back(bounded(laid_out(rows, std::move(caption), whole)));
    };
    add(drops, "Drops by place and reason",
        base::saturating_add(base::saturating_sum(drops, &rows::Drop::count), results.one<rows::HiddenTotals>().count));
    // A ledger's flow says it beside each loss.
    if (results.of<rows::Ledger>().empty()) add(results.of<rows::Advice>(), "What the reasons mean, and where to look");
    add(results.stacks_shown, results.sentences.stacks,
        base::saturating_sum(results.of<rows::Stack>(), &rows::Stack::count));
    if (results.of<rows::Interval>().size() < 2) return;
    const auto by_interval = interval_drops(results);
    to.plots = drop_columns(by_interval);
    to.tables.push_back(bounded(interval_table(by_interval, results.one<rows::Run>().start)));
    add(results.of<DropOfInterval>(), "Places and reasons in each interval");
}

}  // namespace stapgen::show::html
