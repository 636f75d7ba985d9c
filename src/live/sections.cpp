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
using show::Cell, show::MeasureRow, show::Table;
using table::Histogram;

constexpr std::size_t min_distribution = 12, max_distribution = 100;
constexpr auto no_number = "-";

std::string number_text(std::optional<std::int64_t> number, bool is_time) {
    if (!number) return no_number;
    return is_time ? show::duration_text(*number) : base::with_commas(*number);
}

/// Behind the names that the table has of these measures, their numbers and, where there is room, their distributions,
/// all on one scale.
Section with_numbers(const View& view, Table table, const std::vector<MeasureRow>& measures, bool is_time,
                     std::optional<std::size_t> chosen = {}) {
    table.columns.insert(table.columns.end(), {{.name = "N", .leaves = 3},
                                               {.name = "P50", .leaves = 1},
                                               {.name = "P99", .leaves = 4},
                                               {.name = "MAX", .leaves = 2}});
    std::int64_t smallest = measures.front().stats->min().value_or(0), largest = 0;
    for (std::size_t i = 0; i < measures.size(); ++i) {
        const auto& stats = *measures[i].stats;
        table.rows[i].push_back({fmt::format("{}", stats.n())});
        for (const auto number : {stats.percentile(50), stats.percentile(99), stats.max()})
            table.rows[i].push_back({number_text(number, is_time)});
        smallest = std::min(smallest, stats.min().value_or(smallest));
        largest = std::max(largest, stats.max().value_or(largest));
    }
    auto [heading, rows, used] = fitted(table, view.width, chosen);
    if (used + 2 + min_distribution <= view.width) {
        const Scale scale(smallest, largest, std::min(max_distribution, view.width - used - 2));
        heading.push_back({"  " + padded(scale.labels(is_time), scale.columns()), Style::heading});
        for (std::size_t i = 0; i < measures.size(); ++i)
            rows[i].push_back({"  " + distribution(*measures[i].stats, scale, view.utf8), Style::bar});
    }
    return {{}, std::move(heading), std::move(rows)};
}

/// Those of the whole that have values.
std::vector<MeasureRow> whole_of(const Results& results, bool are_times) {
    auto whole = show::measures_of(results, are_times).rows;
    std::erase_if(whole, [](const MeasureRow& row) { return !row.group.empty() || row.stats->n() == 0; });
    return whole;
}

/// The largest first, what n does not allow last; of names the first.
void sort_groups(std::vector<MeasureRow>& groups, Order order) {
    const auto size = [order](const Histogram& stats) -> std::optional<std::int64_t> {
        if (order == Order::p50 || order == Order::p99) return stats.percentile(order == Order::p50 ? 50 : 99);
        return order == Order::max ? stats.max() : stats.n();
    };
    std::vector<std::pair<std::optional<std::int64_t>, MeasureRow>> sizes;
    for (const auto& group : groups)
        sizes.emplace_back(size(*group.stats), group);
    std::ranges::stable_sort(sizes, [order](const auto& a, const auto& b) {
        const bool a_last = is_other(a.second.group), b_last = is_other(b.second.group);
        if (a_last != b_last) return b_last;
        return order == Order::name ? a.second.group < b.second.group : a.first > b.first;
    });
    std::ranges::transform(sizes, groups.begin(), [](const auto& size_of) { return size_of.second; });
}

/// The groups of a stage or value; nothing where there are none.
std::optional<Section> groups_of(const View& view, const std::string& stage, bool is_time) {
    auto groups = show::measures_of(view.scene.shown, is_time).rows;
    std::erase_if(groups,
                  [&](const MeasureRow& row) { return row.group.empty() || row.name != stage || row.stats->n() == 0; });
    if (groups.empty()) return std::nullopt;
    const auto order = view.state.order;
    sort_groups(groups, order);
    auto keys = show::keys_of(groups, &MeasureRow::group);
    if (keys.empty()) keys.emplace_back();  // "other" alone
    Table table;
    for (const auto& key : keys)
        table.columns.push_back({show::key_name(key), show::Kind::text});
    for (const auto& group : groups) {
        auto& row = table.rows.emplace_back();
        for (const auto& key : keys)
            row.push_back({show::key_cell(group.group, key, key == keys.front())});
    }
    const auto chosen = order == Order::name ? 0 : keys.size() + static_cast<std::size_t>(order);
    auto section = with_numbers(view, std::move(table), groups, is_time, chosen);
    section.sentences = {
        fmt::format("{} by group: {}, sorted by {}", plain_text(stage), groups.size(), name_of(order))};
    return section;
}

/// A table of counts with what they are in each second of the window. `counts` are its rows.
Section with_rates(const View& view, Table table, const auto& counts) {
    table.columns.insert(table.columns.begin() + 1, {.name = "PER S", .leaves = 1});
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto per_ns = static_cast<double>(counts[i].count) / static_cast<double>(view.scene.window_ns);
        table.rows[i].insert(table.rows[i].begin() + 1,
                             {view.scene.window_ns > 0 ? show::per_second_text(per_ns * 1e9) : no_number});
    }
    const std::size_t name = 2, count = 0;
    auto [heading, rows, used] = fitted(table, view.width, view.state.order == Order::name ? name : count);
    return {{}, std::move(heading), std::move(rows)};
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

void draw(const View& view, section::Calls /*section*/) {
    view.sections.push_back({{calls_text(view.scene.shown)}});
}

void draw(const View& view, section::Stages /*section*/) {
    const auto chosen = stage_of(view.scene.shown, view.state);
    for (const bool is_time : {true, false}) {
        const auto whole = whole_of(view.scene.shown, is_time);
        Table table{"", {{is_time ? "STAGE" : "VALUE", show::Kind::head}}};
        for (const auto& measure : whole) {
            auto& cell = table.rows.emplace_back().emplace_back(show::stage_cell(measure.name, {}));
            if (measure.name == chosen) cell.ink = base::Ink::strong;
        }
        if (!whole.empty()) view.sections.push_back(with_numbers(view, std::move(table), whole, is_time));
    }
}

void draw(const View& view, section::Drops /*section*/) {
    const auto& results = view.scene.shown;
    auto drops = results.of<rows::Drop>();
    const auto hidden = show::hidden_text(results);
    if (drops.empty() && hidden.empty()) {
        view.sections.push_back({{"no drops"}});
        return;
    }
    if (view.state.order == Order::name) {
        std::ranges::stable_sort(drops, {}, [](const rows::Drop& drop) {
            return std::pair(show::place_text(drop.place), show::reason_text(drop.reason));
        });
    }
    auto section = with_rates(view, show::laid_out(drops), drops);
    section.sentences = {results.sentences.drops};
    if (show::any_benign(drops)) section.rows.push_back({{cut(show::benign_legend, view.width), Style::faint}});
    if (!hidden.empty()) section.rows.push_back({{cut(hidden, view.width), Style::faint}});
    view.sections.push_back(std::move(section));
}

void draw(const View& view, section::Counts /*section*/) {
    const auto& results = view.scene.shown;
    auto counts = results.of<rows::Count>();
    const auto& counting = results.one<rows::Counting>();
    const auto title =
        counting.mixed_units
            ? results.sentences.counts
            : fmt::format("total: {} {}", base::with_commas(base::saturating_sum(counts, &rows::Count::count)),
                          plain_text(*counting.counted));
    if (view.state.order == Order::name) std::ranges::stable_sort(counts, {}, &rows::Count::group);
    for (auto& row : counts)
        row.per_s.reset();  // that of the window is seen
    auto section = counts.empty() ? Section() : with_rates(view, show::laid_out(counts), counts);
    section.sentences = {title};
    view.sections.push_back(std::move(section));
}

void draw(const View& view, section::Groups /*section*/) {
    const auto stage = stage_of(view.scene.shown, view.state);
    for (const bool is_time : {true, false})
        if (auto section = groups_of(view, stage, is_time)) view.sections.push_back(*std::move(section));
}

void draw(const View& view, const show::Sheet& sheet) {
    auto sentences = sheet.sentences;
    if (sentences.empty()) sentences.push_back(sheet.table.caption);
    auto [heading, rows, used] = fitted(sheet.table, view.width);
    view.sections.push_back({std::move(sentences), std::move(heading), std::move(rows)});
}

std::vector<Section> sections_of(const Scene& scene, const State& state, std::size_t width, bool utf8) {
    std::vector<Section> sections;
    const View view{scene, state, width, utf8, sections};
    show::each_section(scene.shown, [&](auto section) { draw(view, section); });
    return sections;
}

}  // namespace stapgen::live
