// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "live/frame.h"
#include "live/lines.h"
#include "report/model/slow_records.h"
#include "report/model/table.h"

namespace stapgen::live {

namespace {

using analyze::Measure;
using table::Histogram;

constexpr std::size_t min_distribution = 12, max_distribution = 100;
constexpr auto no_number = "-";

std::string number_text(std::optional<std::int64_t> number, bool is_time) {
    if (!number) return no_number;
    return is_time ? report::duration_text(*number) : base::with_commas(*number);
}

/// The columns behind the names, of each measure.
void add_number_columns(Grid& grid, Order order) {
    grid.columns.push_back({.name = "N", .priority = 3, .chosen = order == Order::n});
    grid.columns.push_back({.name = "P50", .priority = 1, .chosen = order == Order::p50});
    grid.columns.push_back({.name = "P99", .priority = 4, .chosen = order == Order::p99});
    grid.columns.push_back({.name = "MAX", .priority = 2, .chosen = order == Order::max});
}

void add_numbers(GridRow& row, const Histogram& stats, bool is_time) {
    row.cells.push_back(base::with_commas(stats.n()));
    for (const auto number : {stats.percentile(50), stats.percentile(99), stats.max()})
        row.cells.push_back(number_text(number, is_time));
}

/// The grid with a distribution behind each row where there is room for them, all on one scale. `stats` are the rows'.
Section with_distributions(std::string title, const Grid& grid, const std::vector<const Histogram*>& of, bool is_time,
                           std::size_t width, bool utf8) {
    auto [heading, rows, used] = fitted(grid, width);
    if (!of.empty() && used + 2 + min_distribution <= width) {
        std::int64_t smallest = of.front()->min().value_or(0), largest = 0;
        for (const auto* stats : of) {
            smallest = std::min(smallest, stats->min().value_or(smallest));
            largest = std::max(largest, stats->max().value_or(largest));
        }
        const Scale scale(smallest, largest, std::min(max_distribution, width - used - 2));
        heading.push_back({"  " + padded(scale.labels(is_time), scale.columns()), Style::heading});
        for (std::size_t i = 0; i < of.size(); ++i)
            rows[i].push_back({"  " + distribution(*of[i], scale, utf8), Style::bar});
    }
    return {std::move(title), std::move(heading), std::move(rows)};
}

/// The whole of stages or of values.
Section whole_section(const std::vector<Measure>& measures, bool is_time, const std::string& chosen, std::size_t width,
                      bool utf8) {
    Grid grid;
    grid.columns.push_back({.name = is_time ? "STAGE" : "VALUE", .right = false, .priority = 9, .min_width = 8});
    add_number_columns(grid, Order::name);
    std::vector<const Histogram*> stats;
    for (const auto* measure : report::in_series(measures)) {
        if (measure->stats.n() == 0) continue;
        auto& row = grid.rows.emplace_back();
        row.cells = {measure->name};
        if (measure->name == chosen) row.style = Style::chosen;
        add_numbers(row, measure->stats, is_time);
        stats.push_back(&measure->stats);
    }
    return with_distributions({}, grid, stats, is_time, width, utf8);
}

/// The largest first, what n does not allow last; of names the first.
void sort_groups(report::Measures& groups, Order order) {
    const auto size = [order](const Measure* of) -> std::optional<std::int64_t> {
        if (order == Order::p50 || order == Order::p99) return of->stats.percentile(order == Order::p50 ? 50 : 99);
        return order == Order::max ? of->stats.max() : of->stats.n();
    };
    std::vector<std::pair<std::optional<std::int64_t>, const Measure*>> sizes;
    for (const auto* group : groups)
        sizes.emplace_back(size(group), group);
    std::ranges::stable_sort(sizes, [order](const auto& a, const auto& b) {
        const bool a_last = is_other(a.second->group), b_last = is_other(b.second->group);
        if (a_last != b_last) return b_last;
        return order == Order::name ? a.second->group < b.second->group : a.first > b.first;
    });
    std::ranges::transform(sizes, groups.begin(), [](const auto& size_of) { return size_of.second; });
}

/// The columns of keys, and in each row their texts.
void add_keys(Grid& grid, const std::vector<analyze::Tally>& of, Order order) {
    const auto keys = report::keys_of(of, &analyze::Tally::group);
    for (const auto& key : keys) {
        const bool is_first = &key == &keys.front();
        grid.columns.push_back({.name = base::upper(plain_text(key)),
                                .right = false,
                                .priority = 9,
                                .min_width = 8,
                                .chosen = is_first && order == Order::name});
    }
    if (keys.empty()) grid.columns.push_back({.name = "", .right = false, .priority = 9});
    for (std::size_t i = 0; i < of.size(); ++i) {
        for (const auto& key : keys)
            grid.rows[i].cells.push_back(report::key_cell(of[i].group, key, key == keys.front()));
        if (keys.empty()) grid.rows[i].cells.emplace_back("other");
    }
}

Section group_section(const std::vector<Measure>& measures, bool is_time, const std::string& stage, Order order,
                      std::size_t width, bool utf8) {
    report::Measures groups;
    for (const auto& measure : measures) {
        if (!measure.group.empty() && measure.name == stage && measure.stats.n() > 0) groups.push_back(&measure);
    }
    if (groups.empty()) return {};
    sort_groups(groups, order);
    Grid grid;
    std::vector<const Histogram*> stats;
    std::vector<analyze::Tally> names;  // only their group is used
    for (const auto* group : groups) {
        grid.rows.emplace_back();
        names.emplace_back().group = group->group;
        stats.push_back(&group->stats);
    }
    add_keys(grid, names, order);
    add_number_columns(grid, order);
    for (std::size_t i = 0; i < groups.size(); ++i)
        add_numbers(grid.rows[i], *stats[i], is_time);
    return with_distributions(
        fmt::format("{} by group: {}, sorted by {}", plain_text(stage), groups.size(), name_of(order)), grid, stats,
        is_time, width, utf8);
}

/// In each second of the window.
std::string rate_text(std::int64_t count, std::int64_t window_ns) {
    if (window_ns <= 0) return no_number;
    return report::per_second_text(static_cast<double>(count) * 1e9 / static_cast<double>(window_ns));
}

void add_count_columns(Grid& grid, const std::string& counted, Order order) {
    grid.columns.push_back({.name = counted, .priority = 8, .chosen = order != Order::name});
    grid.columns.push_back({.name = "PER S", .priority = 3});
}

Section drop_section(const Scene& scene, Order order, std::size_t width) {
    auto totals = analyze::total_drops(scene.shown);
    if (totals.empty()) return {"no drops", {}, {}};
    auto shown = report::shown_drops(totals, scene.hide_benign);
    if (order == Order::name) {
        std::ranges::stable_sort(shown.rows, {}, [](const analyze::Drop& drop) {
            return std::pair(report::place_text(drop.place), report::reason_text(drop.reason));
        });
    }
    Grid grid;
    add_count_columns(grid, "COUNT", order);
    grid.columns.push_back(
        {.name = "LOCATION", .right = false, .priority = 7, .min_width = 12, .chosen = order == Order::name});
    grid.columns.push_back({.name = "REASON", .right = false, .priority = 6, .min_width = 10});
    const auto keys = report::keys_of(shown.rows, &analyze::Drop::group);
    for (const auto& key : keys)
        grid.columns.push_back({.name = report::key_name(key), .right = false, .priority = 5, .min_width = 8});
    for (const auto& drop : shown.rows) {
        const auto reason = report::reason_cell(drop);
        std::vector<std::string> cells{base::with_commas(drop.count), rate_text(drop.count, scene.window_ns),
                                       report::place_text(drop.place), reason.text};
        for (const auto& key : keys)
            cells.push_back(report::key_cell(drop.group, key, key == keys.front()));
        grid.rows.push_back({std::move(cells), reason.mark.empty() ? Style::plain : Style::faint});
    }
    auto lines = fitted(grid, width);
    if (report::any_benign(shown.rows)) lines.rows.push_back({{cut(report::benign_legend, width), Style::faint}});
    if (shown.hidden_rows > 0) lines.rows.push_back({{cut(report::hidden_text(shown), width), Style::faint}});
    return {report::total_text(totals), std::move(lines.heading), std::move(lines.rows)};
}

Section count_section(const Scene& scene, Order order, std::size_t width) {
    auto totals = analyze::total_tallies(scene.shown);
    const auto counted = plain_text(scene.shown.counted);
    const auto title = scene.shown.mixed_units
                           ? report::counts_title(scene.shown, totals)
                           : fmt::format("total: {} {}", base::with_commas(analyze::sum_of(totals)), counted);
    if (totals.empty()) return {title, {}, {}};
    if (order == Order::name) std::ranges::stable_sort(totals, {}, &analyze::Tally::group);
    Grid grid;
    add_count_columns(grid, base::upper(counted), order);
    for (const auto& tally : totals) {
        grid.rows.push_back({{base::with_commas(tally.count), rate_text(tally.count, scene.window_ns)},
                             tally.loss ? Style::alert : Style::plain});
    }
    add_keys(grid, totals, order);
    const bool any_meaning =
        std::ranges::any_of(totals, [](const analyze::Tally& tally) { return !tally.meaning.empty(); });
    if (any_meaning) {
        grid.columns.push_back({.name = "LOSS", .right = false, .priority = 5});
        grid.columns.push_back({.name = "WHAT", .right = false, .priority = 1, .min_width = 24});
        for (std::size_t i = 0; i < totals.size(); ++i) {
            grid.rows[i].cells.emplace_back(report::loss_cell(totals[i]));
            grid.rows[i].cells.push_back(totals[i].meaning);
        }
    }
    auto lines = fitted(grid, width);
    return {title, std::move(lines.heading), std::move(lines.rows)};
}

std::string calls_text(const analyze::Summary& summary) {
    const auto calls = static_cast<std::int64_t>(summary.calls.size()) + summary.calls_left_out;
    return fmt::format("{} calls in {} trees; see the report", base::with_commas(calls),
                       base::with_commas(static_cast<std::int64_t>(report::call_trees(summary).size())));
}

}  // namespace

std::vector<std::string> stages_of(const analyze::Summary& summary) {
    std::vector<std::string> names;
    for (const auto* measures : {&summary.stages, &summary.values}) {
        for (const auto* measure : report::in_series(*measures)) {
            if (measure->stats.n() > 0) names.push_back(measure->name);
        }
    }
    return names;
}

std::string stage_of(const analyze::Summary& summary, const State& state) {
    const auto names = stages_of(summary);
    if (state.stage && std::ranges::find(names, *state.stage) != names.end()) return *state.stage;
    if (names.empty() || std::ranges::find(names, "total") != names.end()) return names.empty() ? "" : "total";
    const auto stages = report::in_series(summary.stages);
    const auto longest = std::ranges::max_element(stages, {}, [](const Measure* stage) { return stage->stats.sum(); });
    return longest != stages.end() && (*longest)->stats.n() > 0 ? (*longest)->name : names.front();
}

std::vector<Section> sections_of(const Scene& scene, const State& state, std::size_t width, bool utf8) {
    const auto& summary = scene.shown;
    const auto stage = stage_of(summary, state);
    std::vector<Section> sections;
    const auto add = [&](Section section) {
        if (!section.title.empty() || !section.rows.empty()) sections.push_back(std::move(section));
    };
    add(whole_section(summary.stages, true, stage, width, utf8));
    add(whole_section(summary.values, false, stage, width, utf8));
    if (!summary.counted.empty()) add(count_section(scene, state.order, width));
    if (summary.counts_drops) add(drop_section(scene, state.order, width));
    if (!summary.calls.empty()) add({calls_text(summary), {}, {}});
    add(group_section(summary.stages, true, stage, state.order, width, utf8));
    add(group_section(summary.values, false, stage, state.order, width, utf8));
    return sections;
}

}  // namespace stapgen::live
