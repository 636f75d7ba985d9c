#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "report/model/measures.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace stapgen::report {

namespace {

using analyze::Histogram;

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

void write_percentile_intervals(std::ostream& out, const Rows& rows, const TableStyle& style, const Options& options) {
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
    TableStyle style{style_of(rows, is_time)};
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
        write_percentile_intervals(out, rows, style, options);
}

}  // namespace

void write_stages(std::ostream& out, const Report& report) {
    const auto& options = report.options;
    write_measures(out, report.stages.whole, true, options);
    write_measures(out, report.values.whole, false, options);
    if (options.top > 0) {
        write_measures(out, report.stages.groups, true, options);
        write_measures(out, report.values.groups, false, options);
    }
    for (const auto& note : report.footnotes)
        out << note << "\n\n";
}

}  // namespace stapgen::report
