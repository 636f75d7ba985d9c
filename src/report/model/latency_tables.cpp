// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/outliers.h"
#include "report/model/results.h"

namespace stapgen::report {

namespace {

using table::Meet;
using table::Shape;
using table::Type;
using table::Value;

table::Table measures_table_of(const Rows& rows, bool is_time) {
    table::Table table{
        .name = is_time ? "stages" : "values",
        .row_name = is_time ? "stage" : "value",
        .columns = {{is_time ? "stage" : "value", Type::text, Meet::key},
                    {"group", Type::group, Meet::key},
                    {"distribution", is_time ? Type::distribution : Type::value_distribution, Meet::add}}};
    if (is_time) table.columns.push_back({"share", Type::share, Meet::same});
    for (const auto& row : rows) {
        auto& cells = table.rows.emplace_back(table::Row{row.measure->name, row.measure->group, row.measure->stats});
        if (is_time) cells.push_back(table::value_of(row.share));
    }
    return table;
}

/// The totals of directions that no stage has.
table::Table totals_table(const analyze::Summary& summary) {
    table::Table table{.name = "totals",
                       .columns = {{"stage", Type::text, Meet::key}, {"distribution", Type::distribution, Meet::add}},
                       .shape = Shape::none};
    const auto compared = analyze::compared_stages(summary);
    for (const auto& total : std::span(compared).subspan(in_series(summary.stages).size()))
        table.rows.push_back({total.name, total.stats});
    return table;
}

void add_directions(const Report& report, table::Results& results) {
    table::Table tails{.name = "tail",
                       .columns = {{"way", Type::text, Meet::key},
                                   {"percent", Type::number, Meet::same},
                                   {"sentence", Type::text, Meet::same},
                                   {"threshold_ns", Type::duration, Meet::same},
                                   {"n_slow"},
                                   {"n_rest"},
                                   {"slow_mean_ns", Type::mean, Meet::same},
                                   {"rest_mean_ns", Type::mean, Meet::same}}};
    table::Table stages{.name = "tail.stages",
                        .row_name = "tail",
                        .columns = {{"way", Type::text, Meet::key},
                                    {"stage", Type::text, Meet::key},
                                    {"slow_mean_ns", Type::mean, Meet::same},
                                    {"rest_mean_ns", Type::mean, Meet::same},
                                    {"slow_share", Type::share, Meet::same},
                                    {"rest_share", Type::share, Meet::same},
                                    {"excess_share", Type::share, Meet::same}}};
    table::Table slowest{.name = "slowest",
                         .columns = {{"way", Type::text, Meet::key},
                                     {"total_ns", Type::duration, Meet::never},
                                     {"time_ns", Type::duration, Meet::never},
                                     {"stages_ns", Type::durations, Meet::never},
                                     {"of", Type::group, Meet::never}}};
    for (const auto& [breakdown, sentence, tail, records] : report.directions) {
        const auto& way = breakdown.direction();
        tails.rows.push_back({way, tail_percent, sentence});
        if (tail) {
            for (const Value& value : {Value(tail->threshold_ns), Value(tail->n_slow), Value(tail->n_rest),
                                       Value(tail->slow_mean_ns), Value(tail->rest_mean_ns)})
                tails.rows.back().push_back(value);
            for (const auto& share : tail->shares) {
                stages.rows.push_back({way, share.stage, share.slow_mean_ns, share.rest_mean_ns, share.slow, share.rest,
                                       share.of_excess});
            }
        }
        for (const auto& record : records) {
            table::Durations durations;
            for (std::size_t i = 0; i < record.stages.size() && i < breakdown.stages().size(); ++i)
                durations.emplace_back(breakdown.stages()[i], record.stages[i]);
            slowest.rows.push_back({way, record.total_ns, table::value_of(record.time_ns), durations, record.of});
        }
    }
    results.tables.push_back(std::move(tails));
    results.tables.push_back(std::move(stages));
    results.tables.push_back(std::move(slowest));
}

const std::vector<table::Column> average_columns{
    {"name", Type::text, Meet::key},           {"n", Type::count, Meet::add},
    {"mean_ns", Type::mean, Meet::same, true}, {"error_ns", Type::mean, Meet::same, true},
    {"mean", Type::mean, Meet::same, true},    {"error", Type::mean, Meet::same, true}};

table::Row cells_of(const analyze::Average& average) {
    table::Row cells{average.name, average.n};
    if (!average.is_time) cells.resize(cells.size() + 2);
    cells.emplace_back(average.mean);
    cells.emplace_back(average.error);
    return cells;
}

void add_averages(const analyze::Summary& summary, table::Results& results) {
    table::Table whole{.name = "averages", .row_name = "average", .columns = average_columns};
    for (const auto& average : summary.averages)
        whole.rows.push_back(cells_of(average));
    table::Table intervals{.name = "average_intervals",
                           .columns = {{"line", Type::count, Meet::key}, {"n", Type::count, Meet::add}}};
    table::Table each{.name = "average_intervals.averages", .columns = {{"line", Type::count, Meet::key}}};
    each.columns.insert(each.columns.end(), average_columns.begin(), average_columns.end());
    for (const auto& interval : summary.average_intervals) {
        intervals.rows.push_back({interval.line, interval.n});
        for (const auto& average : interval.averages) {
            auto cells = cells_of(average);
            cells.insert(cells.begin(), interval.line);
            each.rows.push_back(std::move(cells));
        }
    }
    results.tables.push_back(std::move(whole));
    results.tables.push_back(std::move(intervals));
    results.tables.push_back(std::move(each));
}

table::Texts names_in_series(const std::vector<analyze::Measure>& measures) {
    table::Texts names;
    for (const auto* measure : in_series(measures))
        names.push_back(measure->name);
    return names;
}

}  // namespace

void add_latency_tables(const Report& report, table::Results& results) {
    const auto& summary = report.summary;
    results.tables.push_back(measures_table_of(report.stages.all, true));
    results.tables.push_back(measures_table_of(report.values.all, false));
    results.tables.push_back(totals_table(summary));
    results.tables.push_back({.name = "precision",
                              .columns = {{"relative_error", Type::number, Meet::same},
                                          {"resolution_ns", Type::duration, Meet::largest},
                                          {"confidence_level", Type::number, Meet::same}},
                              .rows = {{table::relative_error, summary.resolution_ns, 0.95}},
                              .shape = Shape::fields});
    add_directions(report, results);
    results.tables.push_back({.name = "series", .row_name = "series", .shape = Shape::series});
    results.series = summary.series.by_second();
    results.series_stages = names_in_series(summary.stages);
    results.series_values = names_in_series(summary.values);
    add_averages(summary, results);
}

}  // namespace stapgen::report
