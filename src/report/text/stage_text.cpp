#include "report/text/stage_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string>

#include "base/text.h"
#include "base/units.h"
#include "report/model/measures.h"
#include "report/text/table.h"

namespace stapgen::report {

namespace {

using analyze::Histogram;
using analyze::Measure;

/// One row of a table.
struct Row {
    const Measure* measure = nullptr;
    std::optional<double> share;
    bool is_rest = false;
};
using Rows = std::vector<Row>;

/// Columns that are there only if the table still fits, the most wanted first; intervals only where there is more room
/// than a page has.
enum class Extra { stddev, min, sum, intervals };
constexpr std::array extras{Extra::stddev, Extra::min, Extra::sum, Extra::intervals};

/// And which of those a table has.
struct TableStyle : Style {
    std::vector<Extra> with{};

    [[nodiscard]] bool has(Extra extra) const { return std::ranges::find(with, extra) != with.end(); }
    [[nodiscard]] std::string interval(const Histogram& stats, double percent) const {
        const auto interval = stats.confidence(percent);
        return interval ? fmt::format("[{}, {}]", cell(interval->low), cell(interval->high)) : "-";
    }
};

Measures measures_of(std::span<const Rows* const> tables) {
    Measures measures;
    for (const auto* rows : tables) {
        for (const auto& row : *rows)
            measures.push_back(row.measure);
    }
    return measures;
}

std::string share_cell(std::optional<double> share) {
    return share ? fmt::format("{:.1f}%", *share * 100) : "-";
}

std::string rendered(const Rows& rows, const TableStyle& style, const Options& options) {
    std::vector<Column> columns;
    for (const auto& field : rows.front().measure->group) {
        const bool is_text = std::holds_alternative<std::string>(field.value);
        columns.push_back({base::upper(base::printable(field.key)), is_text ? Align::left : Align::right});
    }
    const std::size_t group_columns = columns.size();
    columns.push_back({style.is_time ? "STAGE [us]" : "VALUE", Align::left});
    columns.push_back({"N"});
    columns.push_back({"MEAN"});
    if (style.has(Extra::stddev)) columns.push_back({"SD"});
    if (style.has(Extra::min)) columns.push_back({"MIN"});
    for (const auto& percentile : options.percentiles) {
        columns.push_back({"P" + percentile.text});
        if (style.has(Extra::intervals)) columns.push_back({"[95 %]"});
    }
    columns.push_back({"MAX"});
    if (style.is_time) columns.push_back({"SHARE"});
    if (style.has(Extra::sum)) columns.push_back({style.is_time ? "SUM [ms]" : "SUM"});

    std::vector<std::vector<std::string>> cells;
    for (const auto& [measure, share, is_rest] : rows) {
        const auto& stats = measure->stats;
        auto& row = cells.emplace_back();
        if (is_rest) {
            row.assign(group_columns, "-");
            if (group_columns > 0) row.front() = "rest";
        } else {
            for (const auto& field : measure->group)
                row.push_back(group_text(field));
            row.resize(group_columns, "-");
        }
        row.push_back(base::printable(measure->name));
        row.push_back(fmt::format("{}", stats.n()));
        row.push_back(style.cell(stats.mean()));
        if (style.has(Extra::stddev)) row.push_back(style.cell(stats.stddev()));
        if (style.has(Extra::min)) row.push_back(style.cell(stats.min()));
        for (const auto& percentile : options.percentiles) {
            row.push_back(style.cell(stats.percentile(percentile.percent)));
            if (style.has(Extra::intervals)) row.push_back(style.interval(stats, percentile.percent));
        }
        row.push_back(style.cell(stats.max()));
        if (style.is_time) row.push_back(share_cell(share));
        if (style.has(Extra::sum)) {
            row.push_back(style.is_time ? fmt::format("{:.3f}", stats.sum() / 1e6)
                                        : fmt::format("{:.0f}", stats.sum()));
        }
    }
    return table(columns, cells);
}

std::size_t width_of(std::string_view text) {
    std::size_t width = 0;
    for (const auto line : base::split(text, '\n'))
        width = std::max(width, line.size());
    return width;
}

void write_intervals(std::ostream& out, const Rows& rows, const TableStyle& style, const Options& options) {
    std::vector<Column> columns{{style.is_time ? "95 % INTERVAL [us]" : "95 % INTERVAL", Align::left}};
    std::vector<std::vector<std::string>> cells;
    for (const auto& percentile : options.percentiles)
        columns.push_back({"P" + percentile.text});
    for (const auto& row : rows) {
        auto& line = cells.emplace_back();
        line.push_back(base::printable(row.measure->name));
        for (const auto& percentile : options.percentiles)
            line.push_back(style.interval(row.measure->stats, percentile.percent));
    }
    out << table(columns, cells) << '\n';
}

void write_measures(std::ostream& out, const Rows& rows, bool is_time, const Options& options) {
    if (rows.empty()) return;
    const std::size_t width = options.width;
    const std::array<const Rows*, 1> whole{&rows};
    TableStyle style{style_of(measures_of(whole), is_time)};
    auto text = rendered(rows, style, options);
    while (is_time && style.decimals > 1 && width_of(text) > width) {
        --style.decimals;
        text = rendered(rows, style, options);
    }
    for (const auto extra : extras) {
        if (extra == Extra::intervals && width <= base::default_width) continue;
        style.with.push_back(extra);
        auto wider = rendered(rows, style, options);
        if (width_of(wider) <= width) {
            text = std::move(wider);
        } else {
            style.with.pop_back();
        }
    }
    out << text << '\n';
    const bool is_whole = rows.front().measure->group.empty();
    if (is_whole && width > base::default_width && !style.has(Extra::intervals))
        write_intervals(out, rows, style, options);
}

/// Without the stages that no packet went through, unless there are no others.
Rows without_empty(Rows rows) {
    const auto is_empty = [](const Row& row) { return row.measure->stats.n() == 0; };
    if (!std::ranges::all_of(rows, is_empty)) std::erase_if(rows, is_empty);
    return rows;
}

/// What is to be shown of the stages, or of the values.
struct Kind {
    Rows whole, grouped;
    TopGroups top;
    std::vector<std::optional<double>> shares, shares_of_rest;

    Kind(const std::vector<Measure>& measures, std::size_t max_groups)
        : top(top_groups(measures, max_groups)), shares(shares_of(measures)), shares_of_rest(shares_of(top.rest)) {
        const auto share = [&](const Measure* measure) {
            return shares[static_cast<std::size_t>(measure - measures.data())];
        };
        for (const auto& measure : measures) {
            if (measure.group.empty()) whole.push_back({&measure, share(&measure), false});
        }
        whole = without_empty(std::move(whole));
        if (top.groups < 2 || max_groups == 0) return;
        for (const auto* measure : top.shown)
            grouped.push_back({measure, share(measure), false});
        for (std::size_t i = 0; i < top.rest.size(); ++i)
            grouped.push_back({&top.rest[i], shares_of_rest[i], true});
        grouped = without_empty(std::move(grouped));
    }
};

}  // namespace

void write_stages(std::ostream& out, const analyze::Summary& summary, const Options& options) {
    const Kind stages(summary.stages, options.top), values(summary.values, options.top);
    write_measures(out, stages.whole, true, options);
    write_measures(out, values.whole, false, options);
    write_measures(out, stages.grouped, true, options);
    write_measures(out, values.grouped, false, options);
    const auto in_rest = std::max(stages.top.in_rest, values.top.in_rest);
    if (in_rest > 0 && options.top > 0)
        out << "rest: " << in_rest << (in_rest == 1 ? " smaller group\n\n" : " smaller groups together\n\n");
    const std::array<const Rows*, 4> tables{&stages.whole, &values.whole, &stages.grouped, &values.grouped};
    if (const auto note = too_few_text(measures_of(tables), options.percentiles); !note.empty()) out << note << "\n\n";
    if (summary.resolution_ns > 1 && !stages.whole.empty()) {
        out << "times are multiples of " << base::format_duration(std::chrono::nanoseconds(summary.resolution_ns))
            << "\n\n";
    }
}

}  // namespace stapgen::report
