// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/totals.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "analyze/results.h"
#include "base/saturate.h"

namespace stapgen::serve {

using table::Meet;
using table::Row;
using table::Table;

namespace {

constexpr std::array<std::string_view, 4> measured_tables{"stages", "values", "drops", "counts"};
constexpr std::string_view under_way = "accounting.incomplete_by";
/// What a run says of all of it. All are counters but what is under way.
constexpr std::array<std::string_view, 7> account_tables{
    "accounting", under_way, "accounting.lost_by", "accounting.other", "accounting.transport", "counters", "input"};

/// Series are of the whole; but counts are of the groups that the recipe makes.
Table series_in(const table::Results& results, std::string_view name) {
    return name == "drops" ? table::without(results.at(name), {"group"}) : results.at(name);
}

/// Of the whole, and with something in it.
bool is_series(const Table& table, const Row& row) {
    const auto* group = table::held<table::Group>(table.at(row, "group"));
    const auto* stats = table::held<table::Histogram>(table.at(row, "distribution"));
    return stats == nullptr || (stats->n() > 0 && (group == nullptr || group->empty()));
}

std::int64_t amount_of(const Table& table, const Row& row) {
    const auto* stats = table::held<table::Histogram>(table.at(row, "distribution"));
    return stats != nullptr ? stats->n() : table::count_of(table.at(row, "count"));
}

}  // namespace

bool SeriesLimit::admit() {
    auto taken = taken_.load();
    while (taken < most_) {
        if (taken_.compare_exchange_weak(taken, taken + 1)) return true;
    }
    return false;
}

Totals::Totals(const std::string& recipe, SeriesLimit& limit) : limit_(limit) {
    kinds::Measured nothing;
    nothing.recipe = recipe;
    const auto results = analyze::results_of(nothing);
    report_ = results.at("report");
    for (const auto name : measured_tables)
        measured_[name] = series_in(results, name);
    for (const auto name : account_tables)
        ended_[name] = results.at(name);
    now_ = risen_ = ended_;
    for (auto& [name, table] : risen_) {
        for (auto& column : table.columns) {
            if (column.meet == Meet::add) column.meet = Meet::largest;
        }
    }
}

void Totals::add(Table more, Table& into) {
    std::unordered_set<std::string> known;
    for (const auto& row : into.rows)
        known.insert(key_of(into, row));
    std::erase_if(more.rows, [&](const Row& row) {
        if (!is_series(more, row)) return true;
        auto key = key_of(more, row);
        if (known.contains(key)) return false;
        if (limit_.admit()) return !known.insert(std::move(key)).second;
        base::add_saturating(kept_out_, amount_of(more, row));
        return true;
    });
    table::add(into, std::move(more));
}

void Totals::add(const table::Results& interval) {
    for (auto& [name, table] : measured_)
        add(series_in(interval, name), table);
}

void Totals::set_run(const table::Results& run) {
    for (const auto name : account_tables) {
        auto& now = now_.at(name) = ended_.at(name);
        table::add(now, run.at(name));
        if (name == under_way) {
            risen_.at(name) = now;
        } else {
            table::add(risen_.at(name), now);
        }
    }
    const auto& origins = run.at("origins");
    if (!origins.rows.empty()) origins_ = origins;
}

void Totals::end_run() {
    ended_ = now_;
}

table::Results Totals::results() const {
    table::Results results{.tables = {report_, origins_}};
    for (const auto* tables : {&measured_, &risen_}) {
        for (const auto& [name, table] : *tables)
            results.tables.push_back(table);
    }
    return results;
}

}  // namespace stapgen::serve
