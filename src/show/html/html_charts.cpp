// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <map>

#include "base/saturate.h"
#include "base/text.h"
#include "show/html/html_scale.h"
#include "show/html/html_sections.h"
#include "show/model/slow_records.h"

namespace stapgen::show::html {

namespace {

using table::Histogram;

/// "0", "0.5", "256": seconds without needless digits.
std::string seconds(std::int64_t ns) {
    return fmt::format("{}", static_cast<double>(ns) / 1e9);
}

using BlockHistograms = std::vector<Histogram> table::Block::*;

Table block_table(const table::Series& series, BlockHistograms histograms, std::size_t place, const std::string& name,
                  bool has_epoch) {
    const Style style{.is_time = histograms == &table::Block::stages};
    const std::string unit = style.is_time ? " [us]" : "";
    Table table{name, {{"FROM [s]"}, {"AT", Kind::text}, {"N"}, {"P50" + unit}, {"P99" + unit}, {"MAX" + unit}}};
    table.folded = true;
    const auto start = series.blocks().front().start_ns;
    for (const auto& block : series.blocks()) {
        const auto& stats = (block.*histograms)[place];
        table.rows.push_back({{seconds(block.start_ns - start)},
                              {has_epoch ? local_time_of_day(block.start_ns).substr(0, 8) : "-"},
                              {fmt::format("{}", stats.n())},
                              {style.cell(stats.percentile(50))},
                              {style.cell(stats.percentile(99))},
                              {style.cell(stats.max())}});
    }
    table.below = fmt::format("-: not enough samples; P50 needs {}, P99 needs {}", table::values_needed(50),
                              table::values_needed(99));
    return table;
}

/// Bins of a page, coarser than a histogram's: 8 to a doubling, and none narrower than what was measured with.
struct Bins {
    static constexpr int per_doubling = 8;
    std::int64_t resolution = 1;

    /// The lowest value of the bin that holds `value` and everything up to it from a histogram's bin.
    [[nodiscard]] std::int64_t low(std::int64_t value) const {
        const auto units = static_cast<std::uint64_t>(value / resolution);
        return static_cast<std::int64_t>(units >> shift(units) << shift(units)) * resolution;
    }
    [[nodiscard]] std::int64_t high(std::int64_t low_value) const {
        const auto units = static_cast<std::uint64_t>(low_value / resolution);
        return low_value + (std::int64_t{1} << shift(units)) * resolution;
    }

  private:
    static int shift(std::uint64_t units) {
        return std::max(
            0, static_cast<int>(std::bit_width(units)) - static_cast<int>(std::bit_width(unsigned{per_doubling})));
    }
};

}  // namespace

std::vector<BinCount> bins_of(const Histogram& stats, std::int64_t resolution_ns) {
    const Bins bins{std::max<std::int64_t>(1, resolution_ns)};
    std::vector<BinCount> counts;
    stats.for_each_bin([&](int bin, std::int64_t count) {
        // Its highest value: what is a multiple of the resolution may begin above the bin's lowest.
        const auto low = bins.low(table::bins::lowest(bin + 1) - 1);
        if (counts.empty() || counts.back().low_ns != low) counts.push_back({low, bins.high(low), 0});
        counts.back().count += count;
    });
    return counts;
}

namespace {

/// Durations to the right; the areas of all are as large.
class Outlines {
  public:
    void add(const Histogram& stats, std::int64_t resolution_ns, std::string look) {
        auto bins = bins_of(stats, resolution_ns);
        if (bins.empty()) return;
        // A logarithmic scale has no 0.
        if (bins.front().low_ns == 0) bins.front().low_ns = bins.front().high_ns / 2;
        low_ = std::min(low_, std::max<std::int64_t>(1, bins.front().low_ns));
        high_ = std::max(high_, bins.back().high_ns);
        n_ += stats.n();
        outlines_.push_back({std::move(look), static_cast<double>(stats.n()), std::move(bins)});
    }
    [[nodiscard]] bool empty() const { return outlines_.empty(); }

    [[nodiscard]] Plot plot(std::string name, std::string_view caption) const {
        const LogScale scale(low_, high_);
        Plot plot{.name = std::move(name),
                  .caption = fmt::format("{}n {}; the area over a range is the share of values in it", caption,
                                         base::with_commas(n_)),
                  .x_scale = scale.formula()};
        std::string grid;
        for (auto& tick : scale.ticks(6)) {
            // As far apart as the longest of their texts is wide on a phone.
            constexpr double room = 0.2;
            add_tick(plot.x, std::move(tick), room);
        }
        for (const auto& tick : plot.x)
            grid += fmt::format("M{:.5g} 0V100", tick.at * 100);
        plot.shapes.push_back({"grid", std::move(grid)});
        std::vector<std::vector<Step>> all;
        double highest = 0;
        for (const auto& [look, n, bins] : outlines_) {
            auto& steps = all.emplace_back();
            for (const auto& [low, high, count] : bins) {
                const double from = scale.at(low), to = scale.at(high);
                if (to <= from) continue;
                steps.push_back({from, to, static_cast<double>(count) / n / (to - from)});
                highest = std::max(highest, steps.back().height);
            }
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (auto& step : all[i])
                step.height *= 0.97 / highest;
            plot.shapes.push_back({outlines_[i].look, path_of(all[i])});
        }
        return plot;
    }

  private:
    struct Outline {
        std::string look;
        double n;
        std::vector<BinCount> bins;
    };
    std::vector<Outline> outlines_;
    std::int64_t n_ = 0, low_ = std::numeric_limits<std::int64_t>::max(), high_ = 1;
};

}  // namespace

std::vector<Plot> distributions_of(const rows::Results& results) {
    std::vector<Plot> plots;
    const auto whole = undivided_stages(results);
    for (const auto& stage : whole.rows) {
        Outlines outlines;
        outlines.add(*stage.stats, results.one<rows::Precision>().resolution_ns, "area line c0");
        if (!outlines.empty()) plots.push_back(outlines.plot(stage.name, ""));
    }
    show_first(plots, first_stage_of(results));
    return plots;
}

std::vector<Plot> distributions_of_both(const rows::Results& before, const rows::Results& after,
                                        const table::Texts& stages) {
    std::vector<Plot> plots;
    const auto resolution_ns =
        std::max(before.one<rows::Precision>().resolution_ns, after.one<rows::Precision>().resolution_ns);
    for (const auto& stage : stages) {
        Outlines outlines;
        outlines.add(*stage_of(before, stage), resolution_ns, "line c0 before");
        outlines.add(*stage_of(after, stage), resolution_ns, "area line c4");
        if (outlines.empty()) continue;
        plots.push_back(outlines.plot("Distribution of " + stage, "before is dashed; "));
        plots.back().legend = both_legend();
    }
    show_first(plots, {});
    return plots;
}

std::int64_t block_length(const rows::Results& results, std::size_t rows) {
    const auto& blocks = results.series().blocks();
    auto length = std::max(results.series().block_ns(), table::Series::second_ns);
    if (blocks.empty()) return length;
    const auto& names = results.one<rows::Series>();
    const auto stages = names.stages.size() + names.values.size();
    const auto span = base::saturating_subtract(blocks.back().start_ns, blocks.front().start_ns);
    while (length <= span / 2 && static_cast<std::size_t>(span / length + 1) * stages > rows)
        length *= 2;
    return length;
}

void draw(Section& to, section::OverTime /*section*/, const Report& of) {
    const auto& results = of.results;
    auto series = results.series().by_second();
    series.coarsen(of.block_ns);
    to.plots = heatmaps_of(results);
    to.tables_name = fmt::format("Numbers, in blocks of {} s", seconds(series.block_ns()));
    const auto add = [&](const table::Texts& names, BlockHistograms histograms) {
        for (std::size_t i = 0; i < std::min(names.size(), (series.blocks().front().*histograms).size()); ++i) {
            const auto is_there = [&](const auto& block) { return (block.*histograms)[i].n() > 0; };
            if (std::ranges::any_of(series.blocks(), is_there))
                to.tables.push_back(block_table(series, histograms, i, names[i], has_epoch(results)));
        }
    };
    add(results.one<rows::Series>().stages, &table::Block::stages);
    add(results.one<rows::Series>().values, &table::Block::values);
}

void draw(Section& to, section::Distribution /*section*/, const Report& of) {
    const auto& results = of.results;
    const auto whole = undivided_stages(results);
    const auto& stages = whole.rows;
    const auto resolution_ns = results.one<rows::Precision>().resolution_ns;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>> rows;  ///< by lowest and highest value
    std::vector<std::int64_t> below(stages.size()), above(stages.size());
    Table table{"Histogram (us)", {{"FROM"}, {"TO, BELOW"}}};
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const auto& stats = *stages[i].stats;
        table.columns.push_back({stages[i].name});
        for (const auto& [low, high, count] : bins_of(stats, resolution_ns)) {
            auto& row = rows[{low, high}];
            row.resize(stages.size());
            row[i] = count;
        }
        below[i] = stats.below();
        above[i] = stats.above();
    }
    if (rows.empty()) return;
    to.plots = curves_of(results);
    for (auto& plot : distributions_of(results))
        to.plots.push_back(std::move(plot));
    table.folded = true;
    const Style style;
    const auto add = [&](std::string low, std::string high, const std::vector<std::int64_t>& counts) {
        auto& row = table.rows.emplace_back();
        row.push_back({std::move(low)});
        row.push_back({std::move(high)});
        for (const auto count : counts)
            row.push_back({fmt::format("{}", count)});
    };
    const auto any = [](const std::vector<std::int64_t>& counts) {
        return std::ranges::any_of(counts, std::identity{});
    };
    if (any(below)) add("-", style.cell(std::int64_t{0}), below);
    for (const auto& [bin, counts] : rows)
        add(style.cell(bin.first), style.cell(bin.second), counts);
    if (any(above)) add(style.cell(table::bins::largest + 1), "-", above);
    to.tables.push_back(std::move(table));
}

}  // namespace stapgen::show::html
