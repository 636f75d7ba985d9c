// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "live/frame.h"
#include "live/lines.h"
#include "show/model/calls.h"
#include "show/model/layout.h"
#include "show/model/measures.h"
#include "table/merge.h"

namespace stapgen::live {

namespace {

using rows::Results;
using show::MeasureRow;
using table::Histogram;

constexpr std::size_t min_distribution = 12, max_distribution = 100;
constexpr auto no_number = "-";

std::string number_text(std::optional<std::int64_t> number, bool is_time) {
    if (!number) return no_number;
    return is_time ? show::duration_text(*number) : base::with_commas(*number);
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

/// Those of the whole that have values.
std::vector<MeasureRow> whole_of(const Results& results, bool are_times) {
    auto whole = show::measures_of(results, are_times).rows;
    std::erase_if(whole, [](const MeasureRow& row) { return !row.group.empty() || row.stats->n() == 0; });
    return whole;
}

/// The whole of stages or of values.
Section whole_section(const Results& results, bool is_time, const std::string& chosen, std::size_t width, bool utf8) {
    Grid grid;
    grid.columns.push_back({.name = is_time ? "STAGE" : "VALUE", .right = false, .priority = 9, .min_width = 8});
    add_number_columns(grid, Order::name);
    std::vector<const Histogram*> stats;
    const auto whole = whole_of(results, is_time);
    for (const auto& measure : whole) {
        auto& row = grid.rows.emplace_back();
        row.cells = {show::stage_cell(measure.name, {}).text};
        if (measure.name == chosen) row.style = Style::chosen;
        add_numbers(row, *measure.stats, is_time);
        stats.push_back(&*measure.stats);
    }
    return with_distributions({}, grid, stats, is_time, width, utf8);
}

struct GroupStats {
    const table::Group* group;
    const Histogram* stats;
};

/// The largest first, what n does not allow last; of names the first.
void sort_groups(std::vector<GroupStats>& groups, Order order) {
    const auto size = [order](const Histogram& stats) -> std::optional<std::int64_t> {
        if (order == Order::p50 || order == Order::p99) return stats.percentile(order == Order::p50 ? 50 : 99);
        return order == Order::max ? stats.max() : stats.n();
    };
    std::vector<std::pair<std::optional<std::int64_t>, GroupStats>> sizes;
    for (const auto& group : groups)
        sizes.emplace_back(size(*group.stats), group);
    std::ranges::stable_sort(sizes, [order](const auto& a, const auto& b) {
        const bool a_last = is_other(*a.second.group), b_last = is_other(*b.second.group);
        if (a_last != b_last) return b_last;
        return order == Order::name ? *a.second.group < *b.second.group : a.first > b.first;
    });
    std::ranges::transform(sizes, groups.begin(), [](const auto& size_of) { return size_of.second; });
}

/// The columns of keys, and in each row their texts. `group` is that of a row.
void add_keys(Grid& grid, const auto& of, const auto& group, Order order) {
    const auto keys = show::keys_of(of, group);
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
            grid.rows[i].cells.push_back(show::key_cell(group(of[i]), key, key == keys.front()));
        if (keys.empty()) grid.rows[i].cells.emplace_back("other");
    }
}

Section group_section(const Results& results, bool is_time, const std::string& stage, Order order, std::size_t width,
                      bool utf8) {
    const auto measures = show::measures_of(results, is_time);
    std::vector<GroupStats> groups;
    for (const auto& measure : measures.rows) {
        if (!measure.group.empty() && measure.name == stage && measure.stats->n() > 0)
            groups.push_back({&measure.group, &*measure.stats});
    }
    if (groups.empty()) return {};
    sort_groups(groups, order);
    Grid grid;
    grid.rows.resize(groups.size());
    add_keys(
        grid, groups, [](const GroupStats& one) -> const table::Group& { return *one.group; }, order);
    add_number_columns(grid, order);
    std::vector<const Histogram*> stats;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        add_numbers(grid.rows[i], *groups[i].stats, is_time);
        stats.push_back(groups[i].stats);
    }
    return with_distributions(
        fmt::format("{} by group: {}, sorted by {}", plain_text(stage), groups.size(), name_of(order)), grid, stats,
        is_time, width, utf8);
}

/// In each second of the window.
std::string rate_text(std::int64_t count, std::int64_t window_ns) {
    if (window_ns <= 0) return no_number;
    return show::per_second_text(static_cast<double>(count) * 1e9 / static_cast<double>(window_ns));
}

void add_count_columns(Grid& grid, const std::string& counted, Order order) {
    grid.columns.push_back({.name = counted, .priority = 8, .chosen = order != Order::name});
    grid.columns.push_back({.name = "PER S", .priority = 3});
}

Section drop_section(const Scene& scene, Order order, std::size_t width) {
    auto drops = scene.shown.of<rows::Drop>();
    const auto hidden = show::hidden_text(scene.shown);
    if (drops.empty() && hidden.empty()) return {"no drops", {}, {}};
    if (order == Order::name) {
        std::ranges::stable_sort(drops, {}, [](const rows::Drop& drop) {
            return std::pair(show::place_text(drop.place), show::reason_text(drop.reason));
        });
    }
    Grid grid;
    add_count_columns(grid, "COUNT", order);
    grid.columns.push_back(
        {.name = "LOCATION", .right = false, .priority = 7, .min_width = 12, .chosen = order == Order::name});
    grid.columns.push_back({.name = "REASON", .right = false, .priority = 6, .min_width = 10});
    const auto keys = show::keys_of(drops, &rows::Drop::group);
    for (const auto& key : keys)
        grid.columns.push_back({.name = show::key_name(key), .right = false, .priority = 5, .min_width = 8});
    for (const auto& drop : drops) {
        const auto reason = show::reason_cell(drop);
        std::vector<std::string> cells{base::with_commas(drop.count), rate_text(drop.count, scene.window_ns),
                                       show::place_text(drop.place), reason.text};
        for (const auto& key : keys)
            cells.push_back(show::key_cell(drop.group, key, key == keys.front()));
        grid.rows.push_back({std::move(cells), reason.mark.empty() ? Style::plain : Style::faint});
    }
    auto lines = fitted(grid, width);
    if (show::any_benign(drops)) lines.rows.push_back({{cut(show::benign_legend, width), Style::faint}});
    if (!hidden.empty()) lines.rows.push_back({{cut(hidden, width), Style::faint}});
    return {scene.shown.sentences.drops, std::move(lines.heading), std::move(lines.rows)};
}

std::string loss_text(const rows::Count& row) {
    return row.loss ? "lost" : row.loss_by_name ? "by name" : "";
}

Section count_section(const Scene& scene, const std::string& counted, Order order, std::size_t width) {
    auto counts = scene.shown.of<rows::Count>();
    const auto sum = base::saturating_sum(counts, &rows::Count::count);
    const auto title = scene.shown.one<rows::Counting>().mixed_units
                           ? scene.shown.sentences.counts
                           : fmt::format("total: {} {}", base::with_commas(sum), plain_text(counted));
    if (counts.empty()) return {title, {}, {}};
    if (order == Order::name) std::ranges::stable_sort(counts, {}, &rows::Count::group);
    Grid grid;
    add_count_columns(grid, base::upper(plain_text(counted)), order);
    bool any_meaning = false;
    for (const auto& row : counts) {
        grid.rows.push_back({{base::with_commas(row.count), rate_text(row.count, scene.window_ns)},
                             row.loss ? Style::alert : Style::plain});
        any_meaning = any_meaning || row.meaning;
    }
    add_keys(
        grid, counts, [](const rows::Count& row) -> const table::Group& { return row.group; }, order);
    if (any_meaning) {
        grid.columns.push_back({.name = "LOSS", .right = false, .priority = 5});
        grid.columns.push_back({.name = "WHAT", .right = false, .priority = 1, .min_width = 24});
        for (std::size_t i = 0; i < counts.size(); ++i) {
            grid.rows[i].cells.push_back(loss_text(counts[i]));
            grid.rows[i].cells.push_back(counts[i].meaning.value_or(""));
        }
    }
    auto lines = fitted(grid, width);
    return {title, std::move(lines.heading), std::move(lines.rows)};
}

/// What people see of a table, below what is said of it.
Section table_section(std::string title, const show::Table& table, std::size_t width) {
    if (table.rows.empty()) return {};
    Grid grid;
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const auto& column = table.columns[i];
        if (column.in == show::In::page) continue;
        shown.push_back(i);
        const bool is_number = column.kind == show::Kind::number;
        grid.columns.push_back({.name = column.name,
                                .right = is_number,
                                .priority = column.kind == show::Kind::head ? 9
                                            : is_number                     ? 8
                                                                            : 7,
                                .min_width = is_number ? std::size_t{0} : std::size_t{8}});
    }
    for (const auto& row : table.rows) {
        auto& cells = grid.rows.emplace_back().cells;
        for (const auto i : shown)
            cells.push_back(row[i].text);
    }
    auto lines = fitted(grid, width);
    return {std::move(title), std::move(lines.heading), std::move(lines.rows)};
}

std::string calls_text(const Results& results) {
    const auto& calls = results.of<rows::Call>();
    const auto all = std::ssize(calls) + calls.left_out;
    return fmt::format("{} calls in {} trees; see the report", base::with_commas(all),
                       base::with_commas(std::ssize(show::call_trees(calls))));
}

}  // namespace

std::vector<std::string> stages_of(const Results& results) {
    std::vector<std::string> names;
    for (const bool are_times : {true, false}) {
        for (const auto& measure : whole_of(results, are_times))
            names.push_back(measure.name);
    }
    return names;
}

std::string stage_of(const Results& results, const State& state) {
    const auto names = stages_of(results);
    if (state.stage && std::ranges::find(names, *state.stage) != names.end()) return *state.stage;
    if (names.empty() || std::ranges::find(names, "total") != names.end()) return names.empty() ? "" : "total";
    const auto stages = whole_of(results, true);
    const auto longest =
        std::ranges::max_element(stages, {}, [](const MeasureRow& stage) { return stage.stats->sum(); });
    return longest != stages.end() ? longest->name : names.front();
}

std::vector<Section> sections_of(const Scene& scene, const State& state, std::size_t width, bool utf8) {
    const auto& results = scene.shown;
    const auto stage = stage_of(results, state);
    std::vector<Section> sections;
    const auto add = [&](Section section) {
        if (!section.title.empty() || !section.rows.empty()) sections.push_back(std::move(section));
    };
    for (const bool are_times : {true, false})
        add(whole_section(results, are_times, stage, width, utf8));
    if (const auto& counted = results.one<rows::Counting>().counted)
        add(count_section(scene, *counted, state.order, width));
    if (results.counts_drops()) add(drop_section(scene, state.order, width));
    const auto& ledger = results.sentences.ledger;
    add(table_section(ledger.empty() ? "" : ledger.front(), show::laid_out(results.of<rows::Ledger>()), width));
    add(table_section(results.sentences.who, show::laid_out(results.of<rows::Who>()), width));
    if (!results.of<rows::Call>().empty()) add({calls_text(results), {}, {}});
    for (const bool are_times : {true, false})
        add(group_section(results, are_times, stage, state.order, width, utf8));
    return sections;
}

}  // namespace stapgen::live
