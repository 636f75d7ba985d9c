#include "report/stage_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <span>
#include <string>

#include "base/text.h"
#include "base/units.h"
#include "report/measures.h"
#include "report/table.h"

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

std::string upper(std::string text) {
    for (char& c : text)
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::string group_cell(const analyze::GroupField& field) {
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) return fmt::format("{}", *number);
    if (const auto* text = std::get_if<std::string>(&field.value)) return base::printable(*text);
    return field.key;
}

/// Columns that are there only if the table still fits, the most wanted first; intervals only where there is more room
/// than a page has.
enum class Extra { stddev, min, sum, intervals };
constexpr std::array extras{Extra::stddev, Extra::min, Extra::sum, Extra::intervals};

/// How the numbers of one table are written: ns shown as us, or plain numbers.
struct Style {
    bool is_time = true;
    int decimals = 3;
    std::vector<Extra> with;

    [[nodiscard]] bool has(Extra extra) const { return std::ranges::find(with, extra) != with.end(); }
    [[nodiscard]] std::string cell(std::optional<std::int64_t> number) const {
        if (!number) return "-";
        return is_time ? cell(std::optional(static_cast<double>(*number))) : fmt::format("{}", *number);
    }
    [[nodiscard]] std::string cell(std::optional<double> number) const {
        if (!number) return "-";
        return is_time ? fmt::format("{:.{}f}", *number / 1e3, decimals) : fmt::format("{:.2f}", *number);
    }
    [[nodiscard]] std::string interval(const Histogram& stats, double percent) const {
        const auto interval = stats.confidence(percent);
        if (!interval) return "-";
        return fmt::format("[{}, {}]", cell(std::optional(interval->low)), cell(std::optional(interval->high)));
    }
};

/// Whole ns until a tenth of a second is among the numbers, and one style for all, so that they line up.
Style style_of(const Rows& rows, bool is_time) {
    std::int64_t largest = 0;
    for (const auto& row : rows)
        largest = std::max(largest, row.measure->stats.max().value_or(0));
    return {is_time, largest < 100'000'000 ? 3 : 2, {}};
}

std::string share_cell(std::optional<double> share) {
    return share ? fmt::format("{:.1f}%", *share * 100) : "-";
}

std::string rendered(const Rows& rows, const Style& style, const TextOptions& options) {
    std::vector<Column> columns;
    for (const auto& field : rows.front().measure->group) {
        const bool is_text = std::holds_alternative<std::string>(field.value);
        columns.push_back({upper(base::printable(field.key)), is_text ? Align::left : Align::right});
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
                row.push_back(group_cell(field));
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

void write_intervals(std::ostream& out, const Rows& rows, const Style& style, const TextOptions& options) {
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

void write_measures(std::ostream& out, const Rows& rows, bool is_time, const TextOptions& options) {
    if (rows.empty()) return;
    const std::size_t width = text_width(options);
    Style style = style_of(rows, is_time);
    auto text = rendered(rows, style, options);
    while (is_time && style.decimals > 1 && width_of(text) > width) {
        --style.decimals;
        text = rendered(rows, style, options);
    }
    for (const auto extra : extras) {
        if (extra == Extra::intervals && width <= default_width) continue;
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
    if (is_whole && width > default_width && !style.has(Extra::intervals)) write_intervals(out, rows, style, options);
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

/// Says what the `-` in place of a percentile means.
void write_footnote(std::ostream& out, std::span<const Rows* const> tables, const TextOptions& options) {
    std::string needs;
    for (const auto& [text, percent] : options.percentiles) {
        const bool missing = std::ranges::any_of(tables, [p = percent](const Rows* rows) {
            return std::ranges::any_of(*rows, [p](const Row& row) { return !row.measure->stats.percentile(p); });
        });
        if (!missing) continue;
        needs += fmt::format("{} P{} needs {}", needs.empty() ? "" : ",", text, analyze::values_needed(percent));
    }
    if (!needs.empty()) out << "-: too few values to tell;" << needs << "\n\n";
}

}  // namespace

void write_stages(std::ostream& out, const analyze::Summary& summary, const TextOptions& options) {
    const Kind stages(summary.stages, options.max_groups), values(summary.values, options.max_groups);
    write_measures(out, stages.whole, true, options);
    write_measures(out, values.whole, false, options);
    write_measures(out, stages.grouped, true, options);
    write_measures(out, values.grouped, false, options);
    const auto in_rest = std::max(stages.top.in_rest, values.top.in_rest);
    if (in_rest > 0 && options.max_groups > 0)
        out << "rest: " << in_rest << (in_rest == 1 ? " smaller group\n\n" : " smaller groups together\n\n");
    const std::array tables{&stages.whole, &values.whole, &stages.grouped, &values.grouped};
    write_footnote(out, tables, options);
    if (summary.resolution_ns > 1 && !stages.whole.empty()) {
        out << "times are multiples of " << base::format_duration(std::chrono::nanoseconds(summary.resolution_ns))
            << "\n\n";
    }
}

}  // namespace stapgen::report
