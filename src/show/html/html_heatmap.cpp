// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "show/html/html_scale.h"
#include "show/html/html_sections.h"
#include "show/model/texts.h"

namespace stapgen::show::html {

namespace {

using table::Histogram;

/// Where there are more, neighbours are joined: on a phone a column is three pixels wide.
constexpr std::size_t max_columns = 128;
/// Where joining ends, since blocks of different recordings are not joined.
constexpr std::size_t max_columns_drawn = 1024;
constexpr int max_rows_drawn = 48;
/// Fewer show no course.
constexpr std::size_t min_columns = 4;
/// The number of shades h1, h2, ... in page.css.
constexpr int shades = 8;

/// Rows of a heatmap, on a logarithmic scale: from 8 of them to a doubling down to one.
struct RowScale {
    RowScale(std::int64_t low, std::int64_t high) {
        low_ = log_of(low);
        const auto span = std::max(1.0, log_of(high) - low_ + 1e-9);
        while (per_doubling > 1 && span * per_doubling + 1 > max_rows_drawn)
            per_doubling /= 2;
        rows = static_cast<int>(span * per_doubling) + 1;
    }
    /// In rows from the bottom.
    [[nodiscard]] double place_of(std::int64_t value) const {
        return std::clamp((log_of(value) - low_) * per_doubling, 0.0, static_cast<double>(rows));
    }
    [[nodiscard]] int row_of(std::int64_t value) const { return std::min(static_cast<int>(place_of(value)), rows - 1); }
    /// The value above the highest row.
    [[nodiscard]] std::int64_t end() const {
        return static_cast<std::int64_t>(std::exp2(std::min(62.0, low_ + static_cast<double>(rows) / per_doubling)));
    }

    int per_doubling = 8, rows = 1;

  private:
    double low_ = 0;
};

TimeColumns columns_of(const table::Series& series) {
    std::vector<Span> spans;
    for (const auto& block : series.blocks())
        spans.push_back({block.start_ns, base::saturating_add(block.start_ns, series.block_ns())});
    return TimeColumns(spans);
}

/// A histogram for each column.
std::vector<Histogram> by_column(const table::Series& series, std::vector<Histogram> table::Block::*histograms,
                                 std::size_t place, const TimeColumns& time) {
    std::vector<Histogram> columns(time.count());
    for (std::size_t i = 0; i < series.blocks().size(); ++i)
        columns[time.columns()[i]] += (series.blocks()[i].*histograms)[place];
    return columns;
}

/// Cells of each shade: lines that are as wide as a row is high, the shortest that can be written.
std::vector<Shape> cells_of(const std::vector<Histogram>& columns, const RowScale& scale, std::int64_t& densest) {
    std::map<std::pair<int, std::size_t>, std::int64_t> counts;  // by row and column
    for (std::size_t column = 0; column < columns.size(); ++column) {
        columns[column].for_each_bin([&](int bin, std::int64_t count) {
            auto& cell = counts[{scale.row_of(table::bins::middle(bin)), column}];
            cell += count;
            densest = std::max(densest, cell);
        });
    }
    const auto shade_of = [&](std::int64_t count) {
        if (densest <= 1) return shades;
        const auto part = std::log(static_cast<double>(count)) / std::log(static_cast<double>(densest));
        return 1 + static_cast<int>(std::floor(part * (shades - 1) + 1e-9));
    };
    // Where the path of each shade is.
    struct Pen {
        int row = -1;
        std::size_t column = 0;
    };
    std::vector<Shape> shapes;
    std::vector<Pen> pens(shades);
    for (int shade = 1; shade <= shades; ++shade)
        shapes.push_back({fmt::format("h{}", shade), {}});
    for (auto cell = counts.begin(); cell != counts.end();) {
        const auto [row, column] = cell->first;
        const auto shade = shade_of(cell->second);
        std::size_t length = 0;
        while (cell != counts.end() && cell->first == std::pair(row, column + length) &&
               shade_of(cell->second) == shade)
            ++length, ++cell;
        auto& pen = pens[static_cast<std::size_t>(shade - 1)];
        auto& path = shapes[static_cast<std::size_t>(shade - 1)].path;
        path += pen.row == row ? fmt::format("m{} 0h{}", column - pen.column, length)
                               : fmt::format("M{} {}.5h{}", column, scale.rows - 1 - row, length);
        pen = {row, column + length};
    }
    std::erase_if(shapes, [](const Shape& shape) { return shape.path.empty(); });
    return shapes;
}

/// A line through the columns that have values enough for the percentile; none where most have not.
Shape line_of(const std::vector<Histogram>& columns, const RowScale& scale, double percent, std::string look) {
    Shape line{std::move(look), {}};
    bool is_open = false;
    std::ptrdiff_t with_values = 0, with_value = 0;
    for (std::size_t column = 0; column < columns.size(); ++column) {
        const auto value = columns[column].percentile(percent);
        with_values += columns[column].n() > 0;
        if (value) {
            ++with_value;
            const auto y = static_cast<double>(scale.rows) - scale.place_of(*value);
            line.path += fmt::format("{}{} {:.5g}h1", is_open ? "L" : "M", column, y);
        }
        is_open = value.has_value();
    }
    if (with_value * 2 < with_values) line.path.clear();
    return line;
}

/// When the conditions of kept recordings held; shaded is what is compared with the time before.
void put_moments(const std::vector<rows::Kept>& all, const TimeColumns& time, Plot& plot) {
    constexpr std::size_t most_bytes = 64;
    for (const auto& kept : all) {
        const auto at = time.place_of(kept.at);
        if (!at) continue;
        const auto begin = time.place_of(base::saturating_subtract(kept.at, kept.moment_before_ns)).value_or(0),
                   end = time.place_of(base::saturating_add(kept.at, kept.moment_after_ns)).value_or(plot.width);
        plot.shapes.insert(plot.shapes.begin(), {"window", rectangle(begin, 0, end - begin, plot.height)});
        plot.shapes.push_back({"moment", fmt::format("M{:.6g} 0V{}", *at, plot.height)});
        auto text = table::local_time_of_day(kept.at).substr(0, 8);
        if (all.size() == 1) text += " " + base::printable(base::whole_characters(kept.condition, most_bytes));
        plot.marks.push_back({text, *at / plot.width});
    }
    if (!plot.marks.empty()) plot.caption += "; the line is the moment of the condition";
}

Plot heatmap_of(const std::string& name, bool is_time, const std::vector<Histogram>& columns, const TimeColumns& time,
                const std::vector<rows::Kept>& kept) {
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 1, n = 0;
    for (const auto& column : columns) {
        if (column.n() == 0) continue;
        n += column.n();
        low = std::min(low, *column.min());
        high = std::max(high, *column.max());
    }
    low = std::max<std::int64_t>(1, low);
    const RowScale rows(low, high);
    const LogScale y(low, rows.end());
    Plot plot{.name = name,
              .caption = {},
              .width = static_cast<int>(time.count()),
              .height = rows.rows,
              .x = time.ticks(),
              .y = y.ticks(6, 0.97, is_time),
              .x_scale = time.formula(),
              .y_scale = y.formula(is_time)};
    for (const auto gap : time.gaps())
        plot.shapes.push_back({"gap", rectangle(static_cast<double>(gap), 0, 1, rows.rows)});
    std::int64_t densest = 0;
    for (auto& shape : cells_of(columns, rows, densest))
        plot.shapes.push_back(std::move(shape));
    for (const auto& [percent, colour] : {std::pair{50.0, std::size_t{3}}, {99.0, std::size_t{4}}}) {
        auto line = line_of(columns, rows, percent, fmt::format("line c{}", colour));
        if (line.path.empty()) continue;
        plot.legend.push_back({fmt::format("P{:g}", percent), 0, colour});
        plot.shapes.push_back(std::move(line));
    }
    plot.caption = fmt::format("n {}; {}; a cell is darker the more values it has, {} at most", base::with_commas(n),
                               time.caption(), base::with_commas(densest));
    put_moments(kept, time, plot);
    return plot;
}

}  // namespace

std::vector<Plot> heatmaps_of(const rows::Results& results) {
    std::vector<Plot> plots;
    auto series = results.series();
    series.join_to(max_columns);
    if (series.blocks().size() < min_columns) return plots;
    const auto time = columns_of(series);
    if (time.count() > max_columns_drawn) return plots;
    const auto add = [&](const table::Texts& names, std::vector<Histogram> table::Block::*histograms, bool is_time) {
        for (std::size_t i = 0; i < std::min(names.size(), (series.blocks().front().*histograms).size()); ++i) {
            const auto columns = by_column(series, histograms, i, time);
            if (std::ranges::any_of(columns, [](const Histogram& column) { return column.n() > 0; }))
                plots.push_back(heatmap_of(names[i], is_time, columns, time, results.of<rows::Kept>()));
        }
    };
    add(results.one<rows::Series>().stages, &table::Block::stages, true);
    add(results.one<rows::Series>().values, &table::Block::values, false);
    show_first(plots, first_stage_of(results));
    return plots;
}

std::vector<Plot> lines_of_both(const rows::Results& before, const rows::Results& after, const table::Texts& stages) {
    std::vector<Plot> plots;
    const std::array names{&before.one<rows::Series>().stages, &after.one<rows::Series>().stages};
    std::array both{before.series().by_second(), after.series().by_second()};
    for (auto& series : both)
        series.join_to(max_columns);
    for (auto& series : both)
        series.coarsen(std::max(both[0].block_ns(), both[1].block_ns()));
    const std::array times{columns_of(both[0]), columns_of(both[1])};
    const auto& longer = times[times[0].count() < times[1].count() ? 1 : 0];
    const auto fewest = std::min(both[0].blocks().size(), both[1].blocks().size());
    if (fewest < min_columns || longer.count() > max_columns_drawn) return plots;
    for (const auto& stage : stages) {
        std::array<std::vector<Histogram>, 2> columns;
        std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 1;
        for (std::size_t side = 0; side < 2; ++side) {
            const auto place = static_cast<std::size_t>(std::ranges::find(*names[side], stage) - names[side]->begin());
            if (place >= both[side].stages()) break;
            columns[side] = by_column(both[side], &table::Block::stages, place, times[side]);
            for (const auto& column : columns[side]) {
                low = std::min(low, std::max<std::int64_t>(1, column.percentile(50).value_or(low)));
                high = std::max({high, column.percentile(50).value_or(1), column.percentile(99).value_or(1)});
            }
        }
        if (columns[1].empty() || low > high) continue;
        const RowScale rows(low, high);
        const LogScale y(low, rows.end());
        Plot plot{.name = stage,
                  .caption = fmt::format("P50 and P99 of each {}, as far as n allows; before is dashed",
                                         duration_text(both[0].block_ns())),
                  .width = static_cast<int>(longer.count()),
                  .height = rows.rows,
                  .x = longer.ticks(),
                  .y = y.ticks(6, 0.97),
                  .x_scale = longer.formula(),
                  .y_scale = y.formula(),
                  .legend = both_legend()};
        for (const double percent : {50.0, 99.0}) {
            plot.shapes.push_back(line_of(columns[0], rows, percent, "line c0 before"));
            plot.shapes.push_back(line_of(columns[1], rows, percent, "line c4"));
        }
        std::erase_if(plot.shapes, [](const Shape& shape) { return shape.path.empty(); });
        if (!plot.shapes.empty()) plots.push_back(std::move(plot));
    }
    show_first(plots, {});
    return plots;
}

}  // namespace stapgen::show::html
