// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <type_traits>

#include "base/text.h"
#include "show/document.h"
#include "store/tables.h"
#include "table/merge.h"

namespace stapgen::store {

namespace {

using table::Histogram;
namespace bins = table::bins;

std::uint64_t count_of(std::int64_t n) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(n, 0));
}

std::optional<Moment> moment_of(std::optional<std::int64_t> epoch_ns) {
    return epoch_ns ? std::optional(Moment{*epoch_ns}) : std::nullopt;
}

std::string json_text(const show::Json& json) {
    return json.dump(-1, ' ', true, show::Json::error_handler_t::replace);
}
std::string json_text(const table::Group& group) {
    return json_text(show::group_json(group));
}

template <class Cell>
inline constexpr bool is_plain = std::is_same_v<Cell, std::string> || std::is_arithmetic_v<Cell>;
template <class Cell>
inline constexpr bool is_plain<std::optional<Cell>> = is_plain<Cell>;

/// Calls with the name and the value of each column that a cell has in the store. What is no number and no text is
/// JSON.
template <class NameOf, class Cell>
void each_value(const std::string& name, const Cell& cell, const auto& visit) {
    if constexpr (std::is_same_v<Cell, table::Shared<Histogram>>) {
        const std::string unit = std::is_same_v<NameOf, table::Ns> ? "_ns" : "";
        visit("n", cell->n());
        visit("sum" + unit, cell->sum());
        visit("mean" + unit, cell->mean());
        visit("stddev" + unit, cell->stddev());
        visit("min" + unit, cell->min());
        visit("max" + unit, cell->max());
        for (const auto& [column, percent] : {std::pair("p50", 50.0), {"p90", 90.0}, {"p99", 99.0}, {"p999", 99.9}})
            visit(column + unit, cell->percentile(percent));
    } else if constexpr (std::is_same_v<Cell, table::Place>) {
        visit("symbol", cell.symbol);
        visit("symbol_offset", cell.offset);
        visit("module", cell.module);
        visit("address", cell.address);
    } else if constexpr (std::is_same_v<Cell, table::Reason>) {
        visit("reason", cell.name);
        visit("reason_number", cell.number < 0 ? std::nullopt : std::optional(cell.number));
    } else if constexpr (std::is_same_v<Cell, table::Group>) {
        visit(name == "group" ? "what" : name, json_text(cell));
    } else if constexpr (table::is_rows<Cell>) {
        show::Json json;
        const show::Options options;
        show::Document(json, options).table(cell);
        visit(name, json_text(json[std::string(Cell::value_type::about.name)]));
    } else if constexpr (std::is_same_v<NameOf, table::Moment>) {
        visit(name, moment_of(cell));
    } else if constexpr (std::is_same_v<NameOf, table::Known>) {
        visit(name, cell.empty() ? std::nullopt : std::optional(cell));
    } else if constexpr (is_plain<Cell>) {
        visit(name, cell);
    } else {
        visit(name, json_text(show::cell_json<NameOf>(cell)));
    }
}

template <class Row>
void each_value(const Row& row, const auto& visit) {
    table::each_column<Row>([&]<class NameOf>(auto /*rule*/, NameOf name, auto member, const table::Shown& shown) {
        if (shown.in != table::In::hidden) each_value<NameOf>(std::string(name.text), row.*member, visit);
    });
}

template <class Value>
constexpr std::string_view type_of() {
    if constexpr (table::is_optional<Value>) return type_of<typename Value::value_type>();
    if constexpr (std::is_same_v<Value, bool>) return "BOOLEAN";
    if constexpr (std::is_same_v<Value, std::int64_t>) return "BIGINT";
    if constexpr (std::is_same_v<Value, std::uint64_t>) return "UBIGINT";
    if constexpr (std::is_same_v<Value, double>) return "DOUBLE";
    if constexpr (std::is_same_v<Value, Moment>) return "TIMESTAMPTZ";
    return "VARCHAR";
}

/// Tables whose rows are others than a report's: bins, and what questions add up.
constexpr auto own_tables = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"hist", "run VARCHAR, stage VARCHAR, unit VARCHAR, t TIMESTAMPTZ, bin_low BIGINT, bin_high BIGINT, n UBIGINT"},
    {"sums", "run VARCHAR, stage VARCHAR, unit VARCHAR, t TIMESTAMPTZ, n UBIGINT, sum BIGINT, min BIGINT, max BIGINT"},
    {"account", "run VARCHAR, kind VARCHAR, name VARCHAR, n BIGINT"},
    {"drops",
     "run VARCHAR, t TIMESTAMPTZ, symbol VARCHAR, symbol_offset UBIGINT, module VARCHAR, address UBIGINT, "
     "reason VARCHAR, reason_number BIGINT, benign BOOLEAN, n BIGINT"},
    {"counts", "run VARCHAR, t TIMESTAMPTZ, counted VARCHAR, what VARCHAR, loss BOOLEAN, n BIGINT"},
    {"slow",
     "run VARCHAR, direction VARCHAR, place BIGINT, t TIMESTAMPTZ, total_ns BIGINT, stage VARCHAR, ns BIGINT, "
     "what VARCHAR"},
    {"labels", "run VARCHAR, name VARCHAR, value VARCHAR"},
    {"runs",
     "run VARCHAR, host VARCHAR, machine VARCHAR, kernel VARCHAR, build_id VARCHAR, definition VARCHAR, "
     "filters VARCHAR, command VARCHAR, started TIMESTAMPTZ, ended TIMESTAMPTZ, sample BIGINT, resolution_ns BIGINT, "
     "whole BOOLEAN"},
});

/// Rows that have such a table, and those that a run has none of.
using Otherwise = table::TablesOf<rows::Origin, rows::Host, rows::Slowest, rows::OfInterval<rows::Drop>,
                                  rows::HiddenDrops, rows::OfInterval<rows::Count>, rows::Accounting>;
template <class Row>
inline constexpr bool has_table = [] {
    constexpr auto shape = Row::about.shape;
    const bool has_rows = shape == table::Shape::rows || shape == table::Shape::list || shape == table::Shape::record;
    return has_rows && !Otherwise::lists<Row>;
}();

/// The rows of one run, table by table.
class RunRows {
  public:
    RunRows(Database& database, const std::string& run, const rows::Results& results)
        : run_(run), results_(results), start_(moment_of(results.one<rows::Run>().start)) {
        for (const auto& table : tables())
            tables_.try_emplace(table.name, database, table.name);
    }

    void put_identity(const std::string& host) {
        const auto& origin = results_.one<rows::Origin>();
        const auto& run = results_.one<rows::Run>();
        std::vector<std::string> filters;
        for (const auto& [option, value] : origin.filters)
            filters.insert(filters.end(), {"--" + option, value});
        row("runs", run_, host, origin.machine.value_or(""), origin.kernel.value_or(""), origin.build_id.value_or(""),
            origin.definition.value_or(""), base::shell_quoted(filters), base::shell_quoted(origin.command), start_,
            moment_of(run.end), origin.sample, results_.one<rows::Precision>().resolution_ns, run.whole);
        for (const auto& [name, value] : origin.labels)
            row("labels", run_, name, value);
    }

    /// Stages, then values: those of the whole, which stand in the order of the series, and the totals of directions.
    /// Parts of stages, which the series does not have, are between them.
    void put_measures() {
        const auto series = results_.series().by_second();
        std::size_t place = 0;
        for (const auto& stage : results_.of<rows::Stage>()) {
            if (!stage.group.empty()) continue;
            const bool is_part = stage.part_of.has_value();
            put_measure(stage.stage, "ns", *stage.distribution, series, is_part ? nullptr : &table::Block::stages,
                        place);
            if (!is_part) ++place;
        }
        for (const auto& total : results_.of<rows::Total>())
            put_measure(total.stage, "ns", *total.distribution, series, nullptr, 0);
        place = 0;
        for (const auto& value : results_.of<rows::Value>())
            if (value.group.empty())
                put_measure(value.value, "", *value.distribution, series, &table::Block::values, place++);
    }

    void put_account() {
        const auto put = [&](std::string_view kind, const std::string& name, std::int64_t count) {
            row("account", run_, kind, name, count);
        };
        const auto put_causes = [&](std::string_view kind, const std::vector<rows::Cause>& causes) {
            for (const auto& [name, count] : causes)
                put(kind, name, count);
        };
        const auto& account = results_.one<rows::Accounting>();
        put("seen", "", account.seen);
        put("reported", "", account.reported);
        put("filtered", "", account.filtered);
        put_causes("incomplete", account.incomplete_by);
        put_causes("lost", account.lost_by);
        put_causes("other", account.other);
        put("skipped probes", "", account.transport.skipped_probes);
        put_causes("skipped probe", account.transport.skipped_by);
        put("probe errors", "", account.transport.probe_errors);
        put("transport failures", "", account.transport.transport_failures);
        for (const auto& counter : results_.of<rows::Counter>())
            if (counter.count) put("counter", counter.name, *counter.count);
    }

    /// Rows of intervals, one for each of the results'.
    void put_counts() {
        auto drops = results_.of<rows::OfInterval<rows::Drop>>();
        for (auto& drop : drops)
            drop.group.clear();
        table::fold(drops);
        for (const auto& drop : drops) {
            const auto& [place, reason] = std::tie(drop.place, drop.reason);
            row("drops", run_, begin_of(drop.interval), place.symbol, place.offset, place.module, place.address,
                reason.name, reason.number < 0 ? std::nullopt : std::optional(reason.number), drop.benign, drop.count);
        }
        for (const auto& count : results_.of<rows::OfInterval<rows::Count>>())
            row("counts", run_, begin_of(count.interval), count.counted, json_text(count.group), count.loss,
                count.count);
    }

    void put_slowest() {
        std::map<std::string, std::int64_t> places;
        for (const auto& record : results_.of<rows::Slowest>()) {
            const auto place = ++places[record.way];
            for (const auto& [stage, ns] : record.stages_ns) {
                if (!ns) continue;
                row("slow", run_, record.way, place, start_ ? moment_of(record.time_ns) : std::nullopt, record.total_ns,
                    stage, *ns, json_text(record.of));
            }
        }
    }

    /// What a report has of the others, as it has them.
    void put_rows() {
        results_.each([&]<class Row>(const table::TableOf<Row>& rows) {
            if constexpr (has_table<Row>) {
                auto& table = tables_.at(std::string(Row::about.name));
                for (const auto& row : rows) {
                    filled_.emplace(Row::about.name);
                    table.put(run_);
                    each_value(row, [&](const std::string& /*name*/, const auto& value) { table.put(value); });
                    table.end_row();
                }
            }
        });
    }

    base::Result<std::vector<Filled>> close() {
        std::vector<Filled> filled;
        for (const auto& [name, columns, differs] : tables()) {
            STAPGEN_TRY(tables_.at(name).close());
            // In any engine views.sql finds labels, if only none.
            if (filled_.contains(name) || name == "labels") filled.push_back({name, name, ""});
        }
        return filled;
    }

  private:
    template <class... Values>
    void row(std::string_view table, const Values&... values) {
        filled_.emplace(table);
        tables_.find(table)->second.row(values...);
    }

    /// When an interval began.
    std::optional<Moment> begin_of(std::int64_t interval) {
        const auto& intervals = results_.of<rows::Interval>();
        const auto place = static_cast<std::size_t>(interval);
        return place < intervals.size() ? moment_of(intervals[place].start) : std::nullopt;
    }

    /// In spans of time, where all of it is in one; else as a whole. `in_blocks` may be null.
    void put_measure(const std::string& name, std::string_view unit, const Histogram& stats,
                     const table::Series& series, std::vector<Histogram> table::Block::*in_blocks, std::size_t place) {
        std::vector<std::pair<std::int64_t, const Histogram*>> spans;
        std::int64_t n = 0;
        for (const auto& block : series.blocks()) {
            if (in_blocks == nullptr || place >= (block.*in_blocks).size()) break;
            spans.emplace_back(block.start_ns, &(block.*in_blocks)[place]);
            n += spans.back().second->n();
        }
        if (!start_ || n != stats.n()) {
            put_histogram(name, unit, std::nullopt, stats);
            return;
        }
        for (const auto& [start_ns, histogram] : spans)
            put_histogram(name, unit, Moment{start_ns}, *histogram);
    }

    void put_histogram(const std::string& stage, std::string_view unit, std::optional<Moment> t,
                       const Histogram& histogram) {
        using Limits = std::numeric_limits<std::int64_t>;
        if (histogram.n() == 0) return;
        row("sums", run_, stage, unit, t, count_of(histogram.n()), histogram.whole_sum(), histogram.min(),
            histogram.max());
        const auto put = [&](std::int64_t low, std::int64_t high, std::int64_t n) {
            if (n > 0) row("hist", run_, stage, unit, t, low, high, count_of(n));
        };
        put(Limits::min(), -1, histogram.below());
        histogram.for_each_bin([&](int bin, std::int64_t n) { put(bins::lowest(bin), bins::lowest(bin + 1) - 1, n); });
        put(bins::largest + 1, Limits::max(), histogram.above());
    }

    const std::string& run_;
    const rows::Results& results_;
    std::optional<Moment> start_;
    std::map<std::string, Database::Appender, std::less<>> tables_;
    std::set<std::string, std::less<>> filled_;
};

}  // namespace

const std::vector<Table>& tables() {
    static const auto all = [] {
        std::vector<Table> tables;
        rows::Results().each([&]<class Row>(const table::TableOf<Row>& /*rows*/) {
            if constexpr (has_table<Row>) {
                auto& columns = tables.emplace_back(Table{std::string(Row::about.name), "run VARCHAR", true}).columns;
                each_value(Row(), [&]<class Value>(const std::string& column, const Value& /*value*/) {
                    columns += fmt::format(", {} {}", sql_name(column), type_of<Value>());
                });
            }
        });
        for (const auto& [name, columns] : own_tables)
            tables.push_back({std::string(name), std::string(columns)});
        return tables;
    }();
    return all;
}

base::Result<std::vector<Filled>> put_run(Database& database, const std::string& run, const std::string& host,
                                          const rows::Results& results) {
    for (const auto& [name, columns, differs] : tables())
        STAPGEN_TRY(database.run(fmt::format("CREATE OR REPLACE TABLE {} ({})", sql_name(name), columns)));
    RunRows rows(database, run, results);
    rows.put_identity(host);
    rows.put_measures();
    rows.put_account();
    rows.put_counts();
    rows.put_slowest();
    rows.put_rows();
    return rows.close();
}

}  // namespace stapgen::store
