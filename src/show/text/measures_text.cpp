// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/text.h"
#include "show/model/measures.h"
#include "show/model/slow_records.h"
#include "show/text/sections.h"

namespace stapgen::show {

namespace {

using rows::Results;

/// What the extra columns of that name would say.
Table percentile_intervals(const Measures& measures, const Style& style, const Options& options) {
    Table table{"", {{.name = "95 % INTERVAL", .kind = Kind::head, .unit = style.is_time ? "us" : ""}}};
    for (const auto& percentile : options.percentiles)
        table.columns.push_back({"P" + percentile.text});
    for (const auto& row : measures.rows) {
        auto& cells = table.rows.emplace_back();
        cells.push_back({row.name});
        for (const auto& percentile : options.percentiles)
            cells.push_back({interval_text(row.stats->confidence(percentile.percent), style)});
    }
    return table;
}

/// Limit of columns of a table that no terminal shows, and that is wider than a page without decimals.
constexpr std::size_t max_width = 100;

/// With as many decimals and extra columns as fit.
void write_measures(const Text& to, const Measures& measures) {
    if (measures.rows.empty()) return;
    const auto& results = to.results;
    const auto& options = to.options;
    const auto& screen = options.screen;
    const auto width = options.width();
    auto style = style_of(measures);
    Table table;
    std::string text;
    const auto set_decimals = [&](int decimals) {
        style.decimals = decimals;
        table = measures_table(results, measures, style, options.percentiles);
        text = text_of(table);
    };
    const auto all = style.decimals;
    set_decimals(all);
    if (style.is_time && widest_line(text) > width) {
        // Where no terminal breaks lines, names may make them longer than a page. Then they keep decimals, too.
        const auto limit = screen.width > 0 ? width : max_width;
        set_decimals(1);
        const auto wanted = widest_line(text) <= width ? width : limit;
        const bool has_room = widest_line(text) <= limit || screen.width > 0;
        for (set_decimals(all); has_room && style.decimals > 1 && widest_line(text) > wanted;)
            set_decimals(style.decimals - 1);
    }
    std::set<Extra> extras;
    const bool is_whole = measures.rows.front().group.empty();
    std::optional<Trend> trend;
    if (style.is_time && is_whole && screen.utf8 && !options.interval && !options.quiet)
        trend = trend_of(results, width - std::min(width, widest_line(text) + 1));
    if (trend) {
        table = measures_table(results, measures, style, options.percentiles, trend);
        extras.insert(Extra::trend);
    }
    for (const auto extra : {Extra::stddev, Extra::min, Extra::sum, Extra::intervals}) {
        if (extra == Extra::intervals && width <= base::default_width) continue;
        extras.insert(extra);
        if (widest_line(text_of(table, {}, extras)) > width) extras.erase(extra);
    }
    to.out << text_of(table, screen, extras);
    if (trend) to.say(trend_legend(results, *trend));
    to.out << '\n';
    if (is_whole && !options.quiet && width > base::default_width && !extras.contains(Extra::intervals))
        to.out << text_of(percentile_intervals(measures, style, options), screen) << '\n';
}

/// A row for each block of time, of "total" or else of every measure of the whole. In each block they are `histograms`.
void write_blocks(const Text& to, bool are_times) {
    const auto& results = to.results;
    const auto whole = whole_rows(results, are_times);
    const auto& names = are_times ? results.one<rows::Series>().stages : results.one<rows::Series>().values;
    const auto histograms = are_times ? &table::Block::stages : &table::Block::values;
    const auto has_values = [&](std::string_view name) {
        return std::ranges::any_of(whole.rows,
                                   [&](const MeasureRow& row) { return row.name == name && row.stats->n() > 0; });
    };
    const bool has_total = has_values("total");
    const bool has_start = has_epoch(results);
    const Style style{.is_time = are_times};
    Table table{
        "",
        {{"TIME", Kind::text}, {style.is_time ? "STAGE [us]" : "VALUE", Kind::head}, {"N"}, {"P50"}, {"P99"}, {"MAX"}}};
    const auto series = results.series().by_second();
    for (const auto& block : series.blocks()) {
        const auto time = has_start ? local_time(block.start_ns) : seconds_text(block.start_ns);
        const auto& all = block.*histograms;
        for (std::size_t i = 0; i < names.size() && i < all.size(); ++i) {
            if (has_total ? names[i] != "total" : !has_values(names[i])) continue;
            table.rows.push_back({{time},
                                  {names[i]},
                                  {fmt::format("{}", all[i].n())},
                                  {style.cell(all[i].percentile(50))},
                                  {style.cell(all[i].percentile(99))},
                                  {style.cell(all[i].max())}});
        }
    }
    if (!table.rows.empty())
        to.out << "In blocks of " << duration_text(series.block_ns()) << ":\n"
               << text_of(table, to.options.screen) << '\n';
}

void write_notes(const Text& to, const std::vector<std::string>& notes) {
    if (to.options.quiet) return;
    for (const auto& note : notes) {
        to.say(note);
        to.out << '\n';
    }
}

}  // namespace

void draw(const Text& to, section::Stages /*section*/) {
    for (const bool are_times : {true, false})
        write_measures(to, whole_rows(to.results, are_times));
    write_notes(to, footnotes(to.results, to.options));
}

void draw(const Text& to, section::Groups /*section*/) {
    if (to.options.top == 0 || !to.options.has_groups) return;
    for (const bool are_times : {true, false})
        write_measures(to, group_rows(to.results, are_times, to.options.top));
    write_notes(to, group_footnotes(to.results, to.options));
}

void draw(const Text& to, section::OverTime /*section*/) {
    if (!to.options.series || to.options.interval || to.options.quiet) return;
    for (const bool are_times : {true, false})
        write_blocks(to, are_times);
}

}  // namespace stapgen::show
