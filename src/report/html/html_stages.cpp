#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/html/html_sections.h"

namespace stapgen::report::html {

namespace {

using analyze::Breakdown;
using analyze::Measure;
using analyze::Percentile;

/// None for a total, which is no part of a bar.
std::optional<std::size_t> colour_of(const analyze::Summary& summary, const Measure& stage) {
    const auto has_stage = [&](const Breakdown& breakdown) {
        return std::ranges::find(breakdown.stages(), stage.name) != breakdown.stages().end();
    };
    if (std::ranges::none_of(summary.breakdowns, has_stage)) return std::nullopt;
    return colour_of_stage(summary, stage.name);
}

Cell bar_cell(double part, std::optional<std::size_t> colour) {
    return {.text = percent(part), .bar = part, .colour = colour};
}

Cell share_cell(const analyze::Summary& summary, const Row& row) {
    return row.share ? bar_cell(*row.share, colour_of(summary, *row.measure)) : Cell{};
}

/// The columns of shares; of what they are where there are several directions.
Column share_column(const Report& report) {
    return {report.share_is_of_direction ? "SHARE OF DIRECTION" : "SHARE OF TIME", Kind::text};
}

void add_columns(std::vector<Column>& columns, const std::vector<Percentile>& percentiles) {
    columns.insert(columns.end(), {{"N"}, {"MEAN"}});
    for (const auto& percentile : percentiles)
        columns.push_back({"P" + percentile.text});
    columns.push_back({"MAX"});
}

void add_cells(std::vector<Cell>& row, const Measure& measure, const Style& style,
               const std::vector<Percentile>& percentiles) {
    const auto& stats = measure.stats;
    row.push_back({fmt::format("{}", stats.n())});
    const auto sum = style.is_time ? fmt::format("{:.3f} ms", stats.sum() / 1e6) : fmt::format("{:.0f}", stats.sum());
    row.push_back({style.cell(stats.mean()), fmt::format("standard deviation {}, minimum {}, sum {}",
                                                         style.cell(stats.stddev()), style.cell(stats.min()), sum)});
    for (const auto& [text, percent] : percentiles) {
        const auto interval = stats.confidence(percent);
        row.push_back({style.cell(stats.percentile(percent)),
                       interval ? fmt::format("P{}: 95 % confidence {} to {}", text, style.cell(interval->low),
                                              style.cell(interval->high))
                                : fmt::format("P{}: needs {} values", text, analyze::values_needed(percent))});
    }
    row.push_back({style.cell(stats.max())});
}

Table measures_table(const Report& report, bool is_time) {
    const auto& rows = is_time ? report.stages.whole : report.values.whole;
    const auto& percentiles = report.options.percentiles;
    const Style style = style_of(rows, is_time);
    Table table{is_time ? "Stages, in microseconds" : "Values", {{is_time ? "STAGE" : "VALUE", Kind::head}}};
    if (is_time) table.columns.push_back(share_column(report));
    add_columns(table.columns, percentiles);
    for (const auto& of : rows) {
        auto& row = table.rows.emplace_back();
        row.push_back({.text = of.measure->name, .colour = colour_of(report.summary, *of.measure)});
        if (is_time) row.push_back(share_cell(report.summary, of));
        add_cells(row, *of.measure, style, percentiles);
    }
    table.below = too_few_text(rows, percentiles);
    return table;
}

std::string direction_of(const Breakdown& breakdown, std::string_view before) {
    return breakdown.direction().empty() ? "" : fmt::format("{}{}", before, breakdown.direction());
}

Table groups_table(const Report& report, bool is_time) {
    const auto& [all, whole, groups, rest, in_rest] = is_time ? report.stages : report.values;
    const auto& percentiles = report.options.percentiles;
    Rows shown = groups;
    std::erase_if(shown, [](const Row& row) { return row.is_rest; });
    if (shown.empty()) return {};
    const Style style = style_of(shown, is_time);
    Table table{is_time ? "Stages by group, in microseconds" : "Values by group", {}};
    const auto keys = shown.front().measure->group.size();
    for (const auto& field : shown.front().measure->group) {
        const bool is_text = std::holds_alternative<std::string>(field.value);
        table.columns.push_back({base::upper(field.key), is_text ? Kind::text : Kind::number});
    }
    table.columns.push_back({is_time ? "STAGE" : "VALUE", Kind::head});
    if (is_time) table.columns.push_back(share_column(report));
    add_columns(table.columns, percentiles);
    const analyze::Group* last = nullptr;
    for (const auto& of : shown) {
        auto& row = table.rows.emplace_back();
        const auto& [name, group, stats] = *of.measure;
        const bool repeated = last != nullptr && *last == group;
        last = &group;
        for (const auto& field : group)
            row.push_back({.text = group_text(field), .mark = repeated ? "repeated" : ""});
        row.resize(keys);
        row.push_back({name});
        if (is_time) row.push_back(share_cell(report.summary, of));
        add_cells(row, *of.measure, style, percentiles);
    }
    table.below = too_few_text(shown, percentiles);
    if (in_rest > 0) {
        table.below = fmt::format("and {} smaller groups{}{}", in_rest, table.below.empty() ? "" : "; ", table.below);
    }
    return table;
}

Table tail_table(const analyze::Summary& summary, const Breakdown& breakdown, const Breakdown::Tail& tail) {
    const Style style;
    Table table{fmt::format("{}{} above P{:g} ({}) against {} others, means in microseconds", tail.n_slow,
                            direction_of(breakdown, " of "), tail.percent,
                            duration_text(static_cast<double>(tail.threshold_ns)), tail.n_rest),
                {{"STAGE", Kind::head},
                 {"MEAN, OTHERS"},
                 {"MEAN, SLOW"},
                 {"SHARE, OTHERS", Kind::text},
                 {"SHARE, SLOW", Kind::text},
                 {"OF WHAT THEY TAKE LONGER", Kind::text}}};
    for (const auto& share : tail.shares) {
        if (share.slow_mean_ns == 0 && share.rest_mean_ns == 0) continue;  // none of these records has that stage
        const auto colour = colour_of_stage(summary, share.stage);
        table.rows.push_back({{.text = share.stage, .colour = colour},
                              {style.cell(share.rest_mean_ns)},
                              {style.cell(share.slow_mean_ns)},
                              bar_cell(share.rest, colour),
                              bar_cell(share.slow, colour),
                              bar_cell(share.of_excess, colour)});
    }
    table.rows.push_back({{"all"}, {style.cell(tail.rest_mean_ns)}, {style.cell(tail.slow_mean_ns)}, {}, {}, {}});
    return table;
}

double mean_total(const Breakdown& breakdown) {
    double sum = 0;
    for (std::size_t i = 0; i < breakdown.stages().size(); ++i)
        sum += breakdown.sum_ns(i);
    return breakdown.total().n() == 0 ? 0 : sum / static_cast<double>(breakdown.total().n());
}

}  // namespace

std::string percent(double part) {
    // Without the sign of what is rounded to nothing.
    return fmt::format("{:.1f} %", std::abs(part) < 0.0005 ? 0.0 : part * 100);
}

std::size_t colour_of_stage(const analyze::Summary& summary, const std::string& stage) {
    std::size_t place = 0;
    for (const auto& breakdown : summary.breakdowns) {
        for (const auto& name : breakdown.stages()) {
            if (name == stage) return place;
            ++place;
        }
    }
    return place;
}

std::string first_stage_of(const analyze::Summary& summary) {
    std::string first;
    double most = -1;
    for (const auto& measure : summary.stages) {
        if (!measure.group.empty()) continue;
        if (measure.name == "total" && measure.stats.n() > 0) return measure.name;
        if (measure.stats.sum() <= most) continue;
        most = measure.stats.sum();
        first = measure.name;
    }
    return first;
}

double max_mean_of(const analyze::Summary& summary) {
    double longest = 0;
    for (const auto& breakdown : summary.breakdowns)
        longest = std::max(longest, mean_total(breakdown));
    return longest;
}

std::vector<Stack> stacks_of(const analyze::Summary& summary, double max_ns) {
    if (max_ns <= 0) max_ns = max_mean_of(summary);
    std::vector<Stack> stacks;
    for (const auto& breakdown : summary.breakdowns) {
        const auto mean = mean_total(breakdown);
        if (mean <= 0) continue;
        Stack stack{breakdown.direction(), fmt::format("{} on average", duration_text(mean)), {}};
        for (std::size_t i = 0; i < breakdown.stages().size(); ++i) {
            const auto& stage = breakdown.stages()[i];
            const auto part = breakdown.sum_ns(i) / static_cast<double>(breakdown.total().n());
            if (part <= 0) continue;
            stack.segments.push_back({fmt::format("{} {}, {}", stage, duration_text(part), percent(part / mean)),
                                      part / max_ns, colour_of_stage(summary, stage)});
        }
        stacks.push_back(std::move(stack));
    }
    return stacks;
}

std::vector<Segment> legend_of(const analyze::Summary& summary) {
    std::vector<Segment> legend;
    for (const auto& breakdown : summary.breakdowns) {
        for (std::size_t i = 0; i < breakdown.stages().size(); ++i) {
            const auto& stage = breakdown.stages()[i];
            // Directions may have the same stages.
            if (breakdown.sum_ns(i) > 0 && std::ranges::find(legend, stage, &Segment::name) == legend.end())
                legend.push_back({stage, 0, colour_of_stage(summary, stage)});
        }
    }
    return legend;
}

Section stages_section(const Report& report) {
    Section section{"stages", "Where the time goes"};
    if (!report.stages.whole.empty()) {
        section.stacks = stacks_of(report.summary);
        section.legend = legend_of(report.summary);
        section.tables.push_back(measures_table(report, true));
    }
    if (!report.values.whole.empty()) section.tables.push_back(measures_table(report, false));
    return section;
}

Section tail_section(const Report& report) {
    Section section{"tail", "Where the tail comes from"};
    for (const auto& direction : report.directions) {
        if (direction.tail) section.tables.push_back(tail_table(report.summary, direction.breakdown, *direction.tail));
    }
    return section;
}

Section groups_section(const Report& report) {
    Section section{"groups", "Groups"};
    for (const bool is_time : {true, false}) {
        if (auto table = groups_table(report, is_time); !table.rows.empty()) section.tables.push_back(std::move(table));
    }
    return section;
}

}  // namespace stapgen::report::html
