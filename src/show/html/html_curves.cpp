// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>

#include "base/text.h"
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

/// One of the distributions of a picture.
struct Curve {
    const Histogram* stats;
    std::string look;
    std::int64_t resolution_ns = 1;
};
using Curves = std::vector<Curve>;

/// Percentiles to the right, durations upwards.
void add_percentiles(std::vector<Plot>& plots, Plot plot, Curves curves) {
    std::erase_if(curves, [](const Curve& curve) { return points_of(*curve.stats).size() < 2; });
    if (curves.empty()) return;
    double end = nines_per_step;
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 1;
    for (const auto& curve : curves) {
        for (const auto& [nines, value] : points_of(*curve.stats)) {
            end = std::max(end, nines);
            low = std::min(low, std::max<std::int64_t>(1, value));
            high = std::max(high, value);
        }
    }
    const LogScale scale(low, high);
    plot.y = scale.ticks(6, 0.97);
    plot.x_scale = fmt::format("nines 0 {:.6g}", end);
    plot.y_scale = scale.formula();
    for (const auto& [nines, text] :
         {std::pair{-std::log10(0.5), "P50"}, {1, "P90"}, {2, "P99"}, {3, "P99.9"}, {4, "P99.99"}, {5, "P99.999"}}) {
        // As far apart as the longest of these texts is wide on a phone.
        constexpr double room = 0.12;
        add_tick(plot.x, {text, nines / end}, room);
    }
    plot.shapes.push_back(grid_of(plot));
    for (const auto& curve : curves) {
        std::string path;
        for (const auto& [nines, value] : points_of(*curve.stats))
            path += fmt::format("{}{:.4g} {:.4g}", path.empty() ? 'M' : 'L', nines / end * 100,
                                100 - scale.at(value) * 100);
        plot.shapes.push_back({curve.look, std::move(path)});
    }
    plots.push_back(std::move(plot));
}

/// Durations to the right; the areas of all are as large, and the last one is filled.
void add_outlines(std::vector<Plot>& plots, Plot plot, const Curves& curves) {
    std::vector<std::vector<BinCount>> bins;
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 1, n = 0;
    for (const auto& curve : curves) {
        auto& of_curve = bins.emplace_back(bins_of(*curve.stats, curve.resolution_ns));
        if (of_curve.empty()) return;
        // A logarithmic scale has no 0.
        if (of_curve.front().low_ns == 0)
            of_curve.front().low_ns = std::max<std::int64_t>(1, of_curve.front().high_ns / 2);
        low = std::min(low, of_curve.front().low_ns);
        high = std::max(high, of_curve.back().high_ns);
        n += curve.stats->n();
    }
    const LogScale scale(low, high);
    plot.caption += fmt::format("n {}; the area over a range is the share of values in it", base::with_commas(n));
    plot.x_scale = scale.formula();
    for (auto& tick : scale.ticks(6)) {
        constexpr double room = 0.2;
        add_tick(plot.x, std::move(tick), room);
    }
    plot.shapes.push_back(grid_of(plot));
    std::vector<std::vector<Step>> outlines(curves.size());
    double highest = 0;
    for (std::size_t i = 0; i < curves.size(); ++i) {
        for (const auto& [from_ns, to_ns, count] : bins[i]) {
            const double from = scale.at(from_ns), to = scale.at(to_ns);
            if (to <= from) continue;
            const auto part = static_cast<double>(count) / static_cast<double>(curves[i].stats->n());
            outlines[i].push_back({from, to, part / (to - from)});
            highest = std::max(highest, outlines[i].back().height);
        }
    }
    for (std::size_t i = 0; i < curves.size(); ++i) {
        for (auto& step : outlines[i])
            step.height *= 0.97 / highest;
        plot.shapes.push_back({(i + 1 == curves.size() ? "area " : "") + curves[i].look, path_of(outlines[i])});
    }
    plots.push_back(std::move(plot));
}

}  // namespace

std::vector<Plot> distributions_of(const rows::Results& results) {
    Curves curves;
    Plot percentiles{.name = "Percentiles", .caption = "of each stage, as far as n allows"};
    std::vector<Plot> outlines, plots;
    const auto whole = undivided_stages(results);
    const auto& stages = whole.rows;
    const auto coloured = coloured_stages(results);
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const auto& [name, stats] = std::tie(stages[i].name, stages[i].stats);
        const auto colour = coloured.empty() ? i : colour_of_stage(coloured, name).value_or(coloured.size());
        curves.push_back({&*stats, "line " + (name == "total" ? "ink" : colour_classes(colour))});
        if (name == "total") percentiles.caption += "; the thick line is the total";
        if (name != "total") percentiles.legend.push_back({name, 0, colour});
        add_outlines(outlines, {.name = name, .caption = {}},
                     {{&*stats, "line c0", results.one<rows::Precision>().resolution_ns}});
    }
    add_percentiles(plots, std::move(percentiles), curves);
    show_first(outlines, first_stage_of(results));
    std::ranges::move(outlines, std::back_inserter(plots));
    return plots;
}

std::vector<Plot> distributions_of_both(const rows::Results& before, const rows::Results& after,
                                        const table::Texts& stages) {
    std::vector<Plot> plots, outlines;
    const auto resolution_ns =
        std::max(before.one<rows::Precision>().resolution_ns, after.one<rows::Precision>().resolution_ns);
    for (const auto& stage : stages) {
        const Curves curves{{stage_of(before, stage), "line c0 before", resolution_ns},
                            {stage_of(after, stage), "line c4", resolution_ns}};
        const auto legend = both_legend();
        add_percentiles(
            plots,
            {.name = "Percentiles of " + stage, .caption = "as far as n allows; before is dashed", .legend = legend},
            curves);
        add_outlines(outlines, {.name = "Distribution of " + stage, .caption = "before is dashed; ", .legend = legend},
                     curves);
    }
    show_first(plots, {});
    show_first(outlines, {});
    std::ranges::move(outlines, std::back_inserter(plots));
    return plots;
}

}  // namespace stapgen::show::html
