// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "show/html/html_scale.h"
#include "show/html/html_sections.h"

namespace stapgen::show::html {

namespace {

using table::Histogram;

/// Of the scale of percentiles: 50, 90, 99 and so on, of 10 to the power of -nines are above it.
constexpr double nines_per_step = 1.0 / 16;
constexpr double max_nines = 6;

struct Point {
    double nines = 0;
    std::int64_t value = 0;
};

/// Up to the highest percentile that n allows.
std::vector<Point> points_of(const Histogram& stats) {
    std::vector<Point> points;
    if (stats.n() == 0) return points;
    points.push_back({0, *stats.min()});
    for (double nines = nines_per_step; nines <= max_nines; nines += nines_per_step) {
        const auto value = stats.percentile(100 * (1 - std::pow(10, -nines)));
        if (!value && nines >= -std::log10(0.5)) break;
        if (!value) continue;  // low percentiles need as many values as high ones
        points.push_back({nines, *value});
    }
    return points;
}

/// Percentiles to the right, durations upwards.
class Curves {
  public:
    void add(const Histogram& stats, std::string look) {
        auto points = points_of(stats);
        if (points.size() < 2) return;
        for (const auto& [nines, value] : points) {
            end_ = std::max(end_, nines);
            low_ = std::min(low_, std::max<std::int64_t>(1, value));
            high_ = std::max(high_, value);
        }
        curves_.push_back({std::move(look), std::move(points)});
    }
    [[nodiscard]] bool empty() const { return curves_.empty(); }

    [[nodiscard]] Plot plot(std::string name, std::string caption) const {
        const LogScale scale(low_, high_);
        Plot plot{.name = std::move(name),
                  .caption = std::move(caption),
                  .y = scale.ticks(6, 0.97),
                  .x_scale = fmt::format("nines 0 {:.6g}", end_),
                  .y_scale = scale.formula()};
        for (const auto& [percent, text] : {std::pair{50.0, "P50"},
                                            {90.0, "P90"},
                                            {99.0, "P99"},
                                            {99.9, "P99.9"},
                                            {99.99, "P99.99"},
                                            {99.999, "P99.999"}}) {
            const auto at = -std::log10(1 - percent / 100) / end_;
            // As far apart as the longest of these texts is wide on a phone.
            constexpr double room = 0.12;
            add_tick(plot.x, {text, at}, room);
        }
        std::string grid;
        for (const auto& tick : plot.x)
            grid += fmt::format("M{:.5g} 0V100", tick.at * 100);
        for (const auto& tick : plot.y)
            grid += fmt::format("M0 {:.5g}H100", 100 - tick.at * 100);
        plot.shapes.push_back({"grid", std::move(grid)});
        for (const auto& [look, points] : curves_) {
            std::string path;
            for (const auto& [nines, value] : points)
                path += fmt::format("{}{:.4g} {:.4g}", path.empty() ? 'M' : 'L', nines / end_ * 100,
                                    100 - scale.at(value) * 100);
            plot.shapes.push_back({"line " + look, std::move(path)});
        }
        return plot;
    }

  private:
    struct Curve {
        std::string look;
        std::vector<Point> points;
    };
    std::vector<Curve> curves_;
    double end_ = nines_per_step;
    std::int64_t low_ = std::numeric_limits<std::int64_t>::max(), high_ = 1;
};

}  // namespace

std::vector<Plot> curves_of(const rows::Results& results) {
    Curves curves;
    std::vector<Segment> legend;
    const auto whole = undivided_stages(results);
    const auto& stages = whole.rows;
    std::size_t of_directions = 0;
    for (const auto& way : results.of<rows::Way>())
        of_directions += way.stages.size();
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const auto& name = stages[i].name;
        const bool is_total = name == "total";
        const auto colour = of_directions == 0 ? i : colour_of_stage(results, name).value_or(of_directions);
        curves.add(*stages[i].stats, is_total ? "ink" : colour_classes(colour));
        if (!is_total) legend.push_back({name, 0, colour});
    }
    if (curves.empty()) return {};
    auto plot = curves.plot("Percentiles", "of each stage, as far as n allows; the thick line is the total");
    if (stage_of(results, "total") == nullptr) plot.caption = "of each stage, as far as n allows";
    plot.legend = std::move(legend);
    return {std::move(plot)};
}

std::vector<Plot> curves_of_both(const rows::Results& before, const rows::Results& after, const table::Texts& stages) {
    std::vector<Plot> plots;
    for (const auto& stage : stages) {
        Curves curves;
        curves.add(*stage_of(before, stage), "c0 before");
        curves.add(*stage_of(after, stage), "c4");
        if (curves.empty()) continue;
        plots.push_back(curves.plot("Percentiles of " + stage, "as far as n allows; before is dashed"));
        plots.back().legend = both_legend();
    }
    show_first(plots, {});
    return plots;
}

}  // namespace stapgen::show::html
