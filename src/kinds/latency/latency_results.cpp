// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <map>
#include <utility>

#include "kinds/latency/averages.h"
#include "kinds/latency/latency.h"
#include "kinds/latency/tail.h"
#include "schema/schema.h"

namespace stapgen::kinds::latency {

namespace {

using schema::is_part;
using table::Meet, table::Shape, table::Type, table::Value;

table::Texts names_of(const Measures& whole) {
    table::Texts names;
    for (const auto& [name, stats] : whole)
        names.push_back(name);
    return names;
}

/// In each group the parts of a stage follow it, without those that no packet had.
void put_parts_after_stages(table::Table& stages) {
    std::map<std::pair<table::Group, std::string_view>, std::vector<const table::Row*>> parts;
    const auto name_of = [](const table::Row& row) -> const std::string& { return *table::held<std::string>(row[0]); };
    const auto group_of = [](const table::Row& row) { return *table::held<table::Group>(row[1]); };
    for (const auto& row : stages.rows) {
        const bool is_seen = table::held<table::Histogram>(row[2])->n() > 0;
        if (is_part(name_of(row)) && is_seen)
            parts[{group_of(row), schema::divided_stage(name_of(row))}].push_back(&row);
    }
    std::vector<table::Row> rows;
    for (const auto& row : stages.rows) {
        if (is_part(name_of(row))) continue;
        rows.push_back(row);
        for (const auto* part : parts[{group_of(row), name_of(row)}])
            rows.push_back(*part);
    }
    stages.rows = std::move(rows);
}

/// The totals of directions that no stage has.
table::Table totals_table(const Measured& measured) {
    table::Table table{.name = "totals",
                       .columns = {{"stage", Type::text, Meet::key}, {"distribution", Type::distribution, Meet::add}},
                       .shape = Shape::none};
    for (const auto* breakdown : breakdowns_of(measured)) {
        const auto name = total_name(*breakdown);
        const auto is_it = [&](const table::Row& row) { return row.front() == Value(name); };
        if (stage_of(measured, name) == nullptr && std::ranges::none_of(table.rows, is_it))
            table.rows.push_back({name, breakdown->total()});
    }
    return table;
}

/// Of a direction: two kinds of records may have directions of one name, and other stages.
const table::Column number_column{"number", Type::count, Meet::key, false, table::In::rows};

/// Of each direction its stages in their order, with all their time; parts are in that.
table::Table way_stages_table(const Measured& measured) {
    table::Table table{.name = "ways.stages",
                       .columns = {number_column, {"stage", Type::text, Meet::key}, {"sum_ns", Type::number}},
                       .shape = Shape::none};
    std::int64_t number = 0;
    for (const auto* breakdown : breakdowns_of(measured)) {
        for (std::size_t i = 0; i < breakdown->stages().size(); ++i) {
            if (!is_part(breakdown->stages()[i]))
                table.rows.push_back({number, breakdown->stages()[i], breakdown->sum_ns(i)});
        }
        ++number;
    }
    return table;
}

/// The three tables of where the tail comes from, and the directions.
class Directions {
  public:
    void add(const table::Breakdown& breakdown) {
        const auto number = std::ssize(ways_.rows);
        const auto& way = breakdown.direction();
        const auto tail = breakdown.tail(tail_percent);
        const auto stage = tail ? stage_of_tail(*tail) : "";
        ways_.rows.push_back({number, way, breakdown.total().n(), stage.empty() ? Value() : Value(stage)});
        if (breakdown.total().n() == 0) return;
        auto& row =
            tails_.rows.emplace_back(table::Row{number, way, tail_percent, tail_sentence(breakdown, tail_percent)});
        if (tail) {
            for (const Value& value : {Value(tail->threshold_ns), Value(tail->n_slow), Value(tail->n_rest),
                                       Value(tail->slow_mean_ns), Value(tail->rest_mean_ns)})
                row.push_back(value);
            for (const auto& share : tail->shares) {
                if (is_part(share.stage)) continue;
                put(number, share);
                for (const auto& part : tail->shares) {
                    if (schema::divided_stage(part.stage) == share.stage && part.slow_mean_ns + part.rest_mean_ns > 0)
                        put(number, part);
                }
            }
        }
        for (const auto& record : breakdown.slowest()) {
            table::Durations durations;
            for (std::size_t i = 0; i < record.stages.size() && i < breakdown.stages().size(); ++i) {
                if (record.stages[i] || !is_part(breakdown.stages()[i]))
                    durations.emplace_back(breakdown.stages()[i], record.stages[i]);
            }
            slowest_.rows.push_back(
                {number, way, record.total_ns, table::value_of(record.time_ns), durations, record.of});
        }
    }
    void put_into(table::Results& results) {
        for (auto* table : {&tails_, &stages_, &slowest_, &ways_})
            results.tables.push_back(std::move(*table));
    }

  private:
    void put(std::int64_t number, const table::Breakdown::Tail::Share& share) {
        stages_.rows.push_back(
            {number, share.stage, share.slow_mean_ns, share.rest_mean_ns, share.slow, share.rest, share.of_excess});
    }

    table::Table tails_{.name = "tail",
                        .columns = {number_column,
                                    {"way", Type::text, Meet::key},
                                    {"percent", Type::number, Meet::same},
                                    {"sentence", Type::text, Meet::same},
                                    {"threshold_ns", Type::duration, Meet::same},
                                    {"n_slow"},
                                    {"n_rest"},
                                    {"slow_mean_ns", Type::mean, Meet::same},
                                    {"rest_mean_ns", Type::mean, Meet::same}}};
    table::Table stages_{.name = "tail.stages",
                         .row_name = "tail",
                         .columns = {number_column,
                                     {"stage", Type::text, Meet::key},
                                     {"slow_mean_ns", Type::mean, Meet::same},
                                     {"rest_mean_ns", Type::mean, Meet::same},
                                     {"slow_share", Type::share, Meet::same},
                                     {"rest_share", Type::share, Meet::same},
                                     {"excess_share", Type::share, Meet::same}}};
    table::Table slowest_{.name = "slowest",
                          .columns = {number_column,
                                      {"way", Type::text, Meet::key},
                                      {"total_ns", Type::duration, Meet::never},
                                      {"time_ns", Type::duration, Meet::never},
                                      {"stages_ns", Type::durations, Meet::never},
                                      {"of", Type::group, Meet::never}}};
    table::Table ways_{
        .name = "ways",
        .columns = {number_column, {"way", Type::text, Meet::key}, {"n"}, {"tail_stage", Type::text, Meet::same}},
        .shape = Shape::none};
};

table::Column mean_column(std::string name, int place, std::string heading) {
    return {
        std::move(name), Type::mean, Meet::same, true, table::In::all, {.place = place, .heading = std::move(heading)}};
}

/// Of times or of numbers: a row has one of the two.
const std::vector<table::Column> average_columns{
    {"name", Type::text, Meet::key, false, table::In::all, {.place = 1, .heading = "NAME", .is_head = true}},
    {"n", Type::count, Meet::add, false, table::In::all, {2, "N"}},
    mean_column("mean_ns", 3, "MEAN"),
    mean_column("error_ns", 4, "ERROR"),
    mean_column("mean", 3, "MEAN"),
    mean_column("error", 4, "ERROR")};

table::Row cells_of(const Value& name, const table::Average& average) {
    table::Row cells{name, average.n};
    if (!average.is_time) cells.resize(cells.size() + 2);
    cells.emplace_back(average.mean);
    cells.emplace_back(average.error);
    return cells;
}

void put_averages(const Measured& measured, table::Results& results) {
    table::Table whole{.name = "averages", .row_name = "average", .columns = average_columns};
    for (const auto& [name, average] : averages_of(measured))
        whole.rows.push_back(cells_of(name, *average));
    table::Table intervals{.name = "average_intervals",
                           .columns = {{"number", Type::count, Meet::key, false, table::In::rows}, {"line"}, {"n"}}};
    table::Table each{.name = "average_intervals.averages", .columns = {{"number", Type::count, Meet::key}}};
    each.columns.insert(each.columns.end(), average_columns.begin(), average_columns.end());
    for (const auto& row : measured.at("average_intervals").rows) {
        if (intervals.rows.empty() || intervals.rows.back().front() != row.front())
            intervals.rows.push_back({row.begin(), row.begin() + 3});
        const auto* average = table::held<table::Average>(row.back());
        if (average == nullptr) continue;
        auto cells = cells_of(row[3], *average);
        cells.insert(cells.begin(), row.front());
        each.rows.push_back(std::move(cells));
    }
    for (auto* table : {&whole, &intervals, &each})
        results.tables.push_back(std::move(*table));
}

}  // namespace

void put_results(const Measured& measured, const Asked& /*asked*/, table::Results& results) {
    auto stages = measured.or_empty(stages_table());
    put_parts_after_stages(stages);
    for (auto column : {table::Column{"share", Type::share, Meet::same},
                        table::Column{"part_of", Type::text, Meet::same, true, table::In::documents},
                        table::Column{"cause", Type::text, Meet::same, true, table::In::documents}})
        stages.columns.push_back(std::move(column));
    for (auto& row : stages.rows) {
        row.resize(stages.columns.size());
        const auto& name = *table::held<std::string>(row.front());
        if (!is_part(name)) continue;
        row[stages.place_of("part_of")] = std::string(schema::divided_stage(name));
        row[stages.place_of("cause")] = std::string(schema::cause_of(name));
    }
    auto way_stages = way_stages_table(measured);
    put_shares(stages, way_stages);
    results.series_stages = names_of(whole_of(stages));
    results.tables.push_back(std::move(stages));
    results.tables.push_back(measured.or_empty(values_table()));
    results.series_values = names_of(whole_of(results.tables.back()));
    results.tables.push_back(totals_table(measured));
    results.tables.push_back({.name = "precision",
                              .columns = {{"relative_error", Type::number, Meet::same},
                                          {"resolution_ns", Type::duration, Meet::largest},
                                          {"confidence_level", Type::number, Meet::same}},
                              .rows = {{table::relative_error, resolution_of(measured), 0.95}},
                              .shape = Shape::fields});
    Directions directions;
    for (const auto* breakdown : breakdowns_of(measured))
        directions.add(*breakdown);
    directions.put_into(results);
    results.tables.push_back(std::move(way_stages));
    results.tables.push_back({.name = "series", .row_name = "series", .shape = Shape::series});
    if (const auto& rows = measured.at("series").rows; !rows.empty())
        results.series = std::get<table::Shared<table::Series>>(rows.front().front());
    put_averages(measured, results);
}

}  // namespace stapgen::kinds::latency
