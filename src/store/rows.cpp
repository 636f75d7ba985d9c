// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "show/json.h"
#include "store/tables.h"

namespace stapgen::store {

namespace {

using table::held;
using table::Histogram;
using table::known;
using table::Scope;
using table::Value;
namespace bins = table::bins;

/// A copy; an empty one where the cell holds something else.
template <class T>
T copy_of(const Value& cell) {
    return known<T>(cell).value_or(T());
}

/// Rows of the table "account": a table of the results, and the column with the counts. Where it has names, each has a
/// row of its own.
struct Account {
    std::string_view table, column, kind;
};
constexpr auto accounts = std::to_array<Account>({{"accounting", "seen", "seen"},
                                                  {"accounting", "reported", "reported"},
                                                  {"accounting", "filtered", "filtered"},
                                                  {"accounting.incomplete_by", "count", "incomplete"},
                                                  {"accounting.lost_by", "count", "lost"},
                                                  {"accounting.other", "count", "other"},
                                                  {"accounting.transport", "skipped_probes", "skipped probes"},
                                                  {"accounting.skipped_by", "count", "skipped probe"},
                                                  {"accounting.transport", "probe_errors", "probe errors"},
                                                  {"accounting.transport", "transport_failures", "transport failures"},
                                                  {"counters", "count", "counter"}});

std::uint64_t count_of(std::int64_t n) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(n, 0));
}

std::optional<std::int64_t> number_of(const Value& cell) {
    return known<std::int64_t>(cell);
}

std::optional<Moment> moment_of(const Value& cell) {
    const auto* epoch_ns = held<std::int64_t>(cell);
    return epoch_ns == nullptr ? std::nullopt : std::optional(Moment{*epoch_ns});
}

std::string json_text(const table::Group& group) {
    return show::group_json(group).dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

/// Tables of the same name in results and in the store, and the columns of the former; in front of them is when the
/// interval began.
struct IntervalTable {
    std::string_view name;
    std::array<std::string_view, 4> columns;
};
constexpr auto interval_tables = std::to_array<IntervalTable>(
    {{"drops", {"place", "reason", "benign", "count"}}, {"counts", {"counted", "group", "loss", "count"}}});

/// Puts a cell into one column, or into several where it consists of them.
struct Cell {
    Database::Appender& rows;

    void operator()(std::monostate /*nothing*/) const { rows.put(std::nullopt); }
    void operator()(bool flag) const { rows.put(flag); }
    void operator()(std::int64_t number) const { rows.put(number); }
    void operator()(const std::string& text) const { rows.put(text); }
    void operator()(const table::Shared<table::Group>& group) const { rows.put(json_text(*group)); }
    void operator()(const table::Shared<table::Place>& place) const {
        rows.put(place->symbol);
        rows.put(place->offset);
        rows.put(place->module);
        rows.put(place->address);
    }
    void operator()(const table::Shared<table::Reason>& reason) const {
        rows.put(reason->name);
        rows.put(reason->number < 0 ? std::nullopt : std::optional(reason->number));
    }
    /// No table of intervals has anything else.
    void operator()(const auto& /*other*/) const {}
};

/// The rows of one run, table by table.
class RunRows {
  public:
    RunRows(Database& database, const std::string& run, const table::Results& results)
        : run_(run), results_(results), start_(moment_of(results.fact("run", "start"))) {
        for (const auto& table : tables)
            tables_.try_emplace(table.name, database, std::string(table.name));
    }

    void put_identity(const std::string& host) {
        const auto origin = [&](std::string_view column) -> const Value& { return results_.fact("origins", column); };
        const auto text = [&](std::string_view column) { return copy_of<std::string>(origin(column)); };
        std::vector<std::string> filters;
        for (const auto& [option, value] : copy_of<table::Labels>(origin("filters")))
            filters.insert(filters.end(), {"--" + option, value});
        row("runs", run_, host, text("machine"), text("kernel"), text("build_id"), text("definition"),
            base::shell_quoted(filters), base::shell_quoted(copy_of<table::Texts>(origin("command"))), start_,
            moment_of(results_.fact("run", "end")), number_of(origin("sample")).value_or(1),
            number_of(results_.fact("precision", "resolution_ns")), known<bool>(results_.fact("whole", "whole")));
        for (const auto& [name, value] : copy_of<table::Labels>(origin("labels")))
            row("labels", run_, name, value);
    }

    /// Stages, then values: those of the whole, and the totals of directions.
    void put_measures() {
        const auto series = results_.series->by_second();
        put_measures("stages", "stage", "ns", series, &table::Block::stages);
        put_measures("totals", "stage", "ns", series, nullptr);
        put_measures("values", "value", "", series, &table::Block::values);
    }

    void put_account() {
        for (const auto& [name, column, kind] : accounts) {
            const auto& table = results_.at(name);
            for (const auto& cells : table.rows) {
                if (const auto count = number_of(table.at(cells, column)))
                    row("account", run_, kind, copy_of<std::string>(table.at(cells, "name")), *count);
            }
        }
    }

    /// Rows of intervals, one for each of the results'.
    void put_counts() {
        for (const auto& [name, columns] : interval_tables) {
            const auto& table = results_.at(name, Scope::intervals);
            for (const auto& cells : table.rows) {
                filled_.insert(name);
                auto& rows = tables_.at(name);
                rows.put(run_);
                rows.put(begin_of(table.at(cells, "interval")));
                for (const auto column : columns)
                    std::visit(Cell{rows}, table.at(cells, column));
                rows.end_row();
            }
        }
    }

    void put_slowest() {
        const auto& slowest = results_.at("slowest");
        std::map<std::string, std::int64_t> places;
        for (const auto& cells : slowest.rows) {
            const auto direction = copy_of<std::string>(slowest.at(cells, "way"));
            const auto place = ++places[direction];
            for (const auto& [stage, ns] : copy_of<table::Durations>(slowest.at(cells, "stages_ns"))) {
                if (!ns) continue;
                row("slow", run_, direction, place, start_ ? moment_of(slowest.at(cells, "time_ns")) : std::nullopt,
                    number_of(slowest.at(cells, "total_ns")), stage, *ns,
                    json_text(copy_of<table::Group>(slowest.at(cells, "of"))));
            }
        }
    }

    base::Result<std::vector<Filled>> close() {
        std::vector<Filled> filled;
        for (const auto& table : tables) {
            if (auto closed = tables_.at(table.name).close(); !closed) return tl::make_unexpected(closed.error());
            const std::string name(table.name);
            // In any engine views.sql finds labels, if only none.
            if (filled_.contains(table.name) || name == "labels") filled.push_back({name, name, ""});
        }
        return filled;
    }

  private:
    template <class... Values>
    void row(std::string_view table, const Values&... values) {
        filled_.insert(table);
        tables_.at(table).row(values...);
    }

    /// When an interval began.
    std::optional<Moment> begin_of(const Value& interval) {
        const auto& intervals = results_.at("intervals");
        const auto place = static_cast<std::size_t>(table::count_of(interval));
        if (place >= intervals.rows.size()) return std::nullopt;
        return moment_of(intervals.at(intervals.rows[place], "start"));
    }

    /// Those of the whole, which stand in the order of the series; parts of stages, which it does not have, between
    /// them.
    void put_measures(std::string_view name, std::string_view column, std::string_view unit,
                      const table::Series& series, std::vector<Histogram> table::Block::*in_blocks) {
        const auto& table = results_.at(name);
        std::size_t place = 0;
        for (const auto& cells : table.rows) {
            const auto* group = held<table::Group>(table.at(cells, "group"));
            const auto* stats = held<Histogram>(table.at(cells, "distribution"));
            if (stats == nullptr || (group != nullptr && !group->empty())) continue;
            const bool is_part = held<std::string>(table.at(cells, "part_of")) != nullptr;
            put_measure(copy_of<std::string>(table.at(cells, column)), unit, *stats, series,
                        is_part ? nullptr : in_blocks, place);
            if (!is_part) ++place;
        }
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
    const table::Results& results_;
    std::optional<Moment> start_;
    std::map<std::string_view, Database::Appender> tables_;
    std::set<std::string_view> filled_;
};

}  // namespace

base::Result<std::vector<Filled>> put_run(Database& database, const std::string& run, const std::string& host,
                                          const table::Results& results) {
    for (const auto& table : tables) {
        auto made = database.run(fmt::format("CREATE OR REPLACE TABLE {} ({})", table.name, table.columns));
        if (!made) return tl::make_unexpected(made.error());
    }
    RunRows rows(database, run, results);
    rows.put_identity(host);
    rows.put_measures();
    rows.put_account();
    rows.put_counts();
    rows.put_slowest();
    return rows.close();
}

}  // namespace stapgen::store
