// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

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

void draw(Section& to, section::OverTime /*section*/, const Report& of) {
    const auto& results = of.results;
    auto series = results.series().by_second();
    series.join_to(of.block_rows / std::max<std::size_t>(1, series.stages() + series.values()));
    to.plots = heatmaps_of(results);
    // One block is the whole.
    if (series.blocks().size() < 2 && to.plots.empty()) return;
    if (!to.plots.empty()) to.tables_name = fmt::format("Numbers, in blocks of {} s", seconds(series.block_ns()));
    const auto add = [&](const table::Texts& names, BlockHistograms histograms) {
        for (std::size_t i = 0; i < std::min(names.size(), (series.blocks().front().*histograms).size()); ++i) {
            const auto is_there = [&](const auto& block) { return (block.*histograms)[i].n() > 0; };
            if (std::ranges::any_of(series.blocks(), is_there))
                to.tables.push_back(block_table(series, histograms, i, names[i], has_epoch(results)));
            // Where nothing else is there, the first stands open.
            if (to.plots.empty() && to.tables.size() == 1) to.tables.front().folded = false;
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
    to.plots = distributions_of(results);
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
