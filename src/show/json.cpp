// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/json.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "show/model/texts.h"

namespace stapgen::show {

namespace {

using Json = nlohmann::ordered_json;
using table::held;
using table::Shape;
using table::Type;
using table::Value;

/// To a thousandth: of a mean of ns more digits say nothing.
Json rounded(const std::optional<double>& value) {
    return value ? Json(std::round(*value * 1000) / 1000) : Json(nullptr);
}

/// Whole numbers as such, as far as they go.
Json sum_json(double sum) {
    return std::abs(sum) < 9e18 ? Json(static_cast<std::int64_t>(sum)) : Json(sum);
}

/// Null where the cell holds something else.
template <class T>
Json plain(const Value& value) {
    const auto* known = held<T>(value);
    return known == nullptr ? Json(nullptr) : Json(*known);
}

std::map<std::string, std::string> labels_of(const Value& value) {
    const auto* labels = held<table::Labels>(value);
    return labels == nullptr ? std::map<std::string, std::string>() : std::map(labels->begin(), labels->end());
}

void put_place(Json& object, const table::Place& place) {
    object["symbol"] = or_null(place.symbol);
    object["offset"] = or_null(place.offset);
    object["module"] = or_null(place.module);
    object["address"] = place.address ? Json(fmt::format("0x{:x}", *place.address)) : Json(nullptr);
}

Json path_json(const table::Path& path) {
    Json frames = Json::array();
    for (const auto& place : path)
        put_place(frames.emplace_back(), place);
    return frames;
}

/// `unit`: the suffix of its keys.
void put_distribution(Json& object, const table::Histogram& stats, const std::string& unit,
                      const std::vector<table::Percentile>& percentiles) {
    Json values = Json::object(), intervals = Json::object();
    for (const auto& [text, percent] : percentiles) {
        values[text] = or_null(stats.percentile(percent));
        const auto interval = stats.confidence(percent);
        intervals[text] = interval ? Json::array({interval->low, interval->high}) : Json(nullptr);
    }
    object["n"] = stats.n();
    object["sum" + unit] = sum_json(stats.sum());
    object["mean" + unit] = rounded(stats.mean());
    object["stddev" + unit] = rounded(stats.stddev());
    object["min" + unit] = or_null(stats.min());
    object["max" + unit] = or_null(stats.max());
    object["percentiles" + unit] = std::move(values);
    object["percentiles_ci" + unit] = std::move(intervals);
}

Json cell_json(Type type, const Value& value) {
    switch (type) {
        case Type::flag:
            return plain<bool>(value);
        case Type::count:
        case Type::duration:
            return plain<std::int64_t>(value);
        case Type::number:
            return plain<double>(value);
        case Type::mean:
            return rounded(table::known<double>(value));
        case Type::share: {
            const auto* part = held<double>(value);
            return part == nullptr ? Json(nullptr) : Json(std::round(*part * 1e6) / 1e6);
        }
        case Type::time: {
            const auto* ns = held<std::int64_t>(value);
            return ns == nullptr ? Json(nullptr) : Json(utc_time(*ns));
        }
        case Type::text:
            return plain<std::string>(value);
        case Type::texts:
            return plain<table::Texts>(value);
        case Type::labels:
            // From a map: one key after the other would be looked for among all.
            return labels_of(value);
        case Type::durations: {
            Json object = Json::object();
            for (const auto& [name, ns] : table::known<table::Durations>(value).value_or(table::Durations()))
                object[name] = or_null(ns);
            return object;
        }
        case Type::group:
            return group_json(table::known<table::Group>(value).value_or(table::Group()));
        case Type::path:
            return path_json(table::known<table::Path>(value).value_or(table::Path()));
        case Type::place:
        case Type::reason:
        case Type::distribution:
        case Type::value_distribution:
        case Type::breakdown:
        case Type::series:
        case Type::average:
        case Type::tracks:
            break;
    }
    return nullptr;
}

/// A cell's keys: one with the column's name, or what it consists of.
void put_cell(Json& object, const table::Column& column, const Value& value, const Options& options) {
    if (column.in == table::In::rows || column.in == table::In::people) return;
    if (column.is_rare && std::holds_alternative<std::monostate>(value)) return;
    if (const auto* place = held<table::Place>(value)) {
        put_place(object, *place);
    } else if (const auto* reason = held<table::Reason>(value)) {
        object["reason"] = or_null(reason->name);
        object["reason_number"] = reason->number < 0 ? Json(nullptr) : Json(reason->number);
    } else if (const auto* stats = held<table::Histogram>(value)) {
        put_distribution(object, *stats, column.type == Type::distribution ? "_ns" : "", options.percentiles);
    } else {
        object[column.name] = cell_json(column.type, value);
    }
}

class Document {
  public:
    Document(table::Results results, const Options& options) : results_(std::move(results)), options_(options) {
        results_.series = results_.series->by_second();
        std::erase_if(results_.tables, [](const table::Table& table) {
            return table.scope == table::Scope::whole || (table.is_rare && table.rows.empty());
        });
    }

    Json json() {
        Json document;
        document["schema"] = "stapgen.report/1";
        for (auto& table : results_.tables) {
            if (table.parent().empty()) put(document, table);
        }
        return document;
    }

  private:
    /// Into the document, or into an object that has it as a part: then of a row of the table that it is part of, or of
    /// its only one.
    void put(Json& object, table::Table& table, const table::Row* part_of = nullptr) {
        const auto key = table.name.substr(table.parent().empty() ? 0 : table.parent().size() + 1);
        switch (table.shape) {
            case Shape::fields:
                return put_row(object, table, table.rows.front());
            case Shape::record:
                return put_row(object[key], table, table.rows.front());
            case Shape::rows:
                return put_rows(object[key] = Json::array(), table, part_of);
            case Shape::list:
                object[key] = Json::array();
                for (const auto& row : table.rows)
                    object[key].push_back(cell_json(table.columns.front().type, row.front()));
                return;
            case Shape::map:
                object[key] = Json::object();
                for (const auto& row : table.rows)
                    object[key][*held<std::string>(row.front())] = cell_json(table.columns[1].type, row[1]);
                return;
            case Shape::series:
                object[key] = series_json();
                return;
            case Shape::none:
                return;
        }
    }

    /// The parts of a row that has the same first cell; or all, and each is let go: a document takes memory, too.
    void put_rows(Json& array, table::Table& table, const table::Row* part_of) {
        for (auto& row : table.rows) {
            if (part_of == nullptr) {
                put_row(array.emplace_back(Json::object()), table, std::exchange(row, {}));
            } else if (part_of->front() == row.front()) {
                put_row(array.emplace_back(Json::object()), table, row, 1);
            }
        }
    }

    void put_row(Json& object, const table::Table& table, const table::Row& row, std::size_t first = 0) {
        for (auto i = first; i < table.columns.size(); ++i)
            put_cell(object, table.columns[i], i < row.size() ? row[i] : Value(), options_);
        for (auto& parts : results_.tables) {
            if (parts.parent() == table.name) put(object, parts, table.shape == Shape::rows ? &row : nullptr);
        }
    }

    /// An array for each column, one element for each block: short, and a table to programs.
    Json series_json() {
        const auto& series = *results_.series;
        Json starts = Json::array();
        for (const auto& block : series.blocks())
            starts.push_back(block.start_ns);
        return {{"block_ns", series.block_ns()},
                {"start_ns", std::move(starts)},
                {"stages", columns_of(series, results_.series_stages, &table::Block::stages, "stage", "_ns")},
                {"values", columns_of(series, results_.series_values, &table::Block::values, "value", "")}};
    }

    static Json columns_of(const table::Series& series, const table::Texts& names,
                           std::vector<table::Histogram> table::Block::*histograms, const std::string& kind,
                           const std::string& unit) {
        Json columns = Json::array();
        for (std::size_t place = 0; place < names.size(); ++place) {
            Json n = Json::array(), p50 = Json::array(), p99 = Json::array(), max = Json::array();
            for (const auto& block : series.blocks()) {
                const auto& all = block.*histograms;
                const auto stats = place < all.size() ? all[place] : table::Histogram();
                n.push_back(stats.n());
                p50.push_back(or_null(stats.percentile(50)));
                p99.push_back(or_null(stats.percentile(99)));
                max.push_back(or_null(stats.max()));
            }
            columns.push_back(
                {{kind, names[place]}, {"n", n}, {"p50" + unit, p50}, {"p99" + unit, p99}, {"max" + unit, max}});
        }
        return columns;
    }

    table::Results results_;
    const Options& options_;
};

Json report_json(const Reports& reports, std::size_t place, const Options& options) {
    return Document(reports.results(place, options), options).json();
}

}  // namespace

Json group_json(const table::Group& group) {
    Json object = Json::object();
    for (const auto& [key, value] : group) {
        std::visit([&, &name = key](const auto& known) { object[name] = known; }, value);
    }
    return object;
}

Json origins_json(const table::Results& results) {
    const Options options;
    return Document({.tables = {results.at("origins")}}, options).json()["origins"];
}

namespace {

void write_json(std::ostream& out, const Reports& reports, const Options& options) {
    if (reports.size() == 1) return put_json(out, report_json(reports, 0, options), 2);
    out << "{\"schema\": \"stapgen.reports/1\", \"reports\": [\n";
    for (std::size_t i = 0; i < reports.size(); ++i) {
        if (i > 0) out << ',';
        put_json(out, report_json(reports, i, options), -1);
    }
    out << "]}\n";
}

void write_ndjson(std::ostream& out, const Reports& reports, const Options& options) {
    for (std::size_t i = 0; i < reports.size(); ++i)
        put_json(out, report_json(reports, i, options), -1);
}

}  // namespace

/// A document of schema "stapgen.report/1", or several in one of schema "stapgen.reports/1". Keys are never renamed;
/// durations are in ns, times in RFC 3339 UTC. What is not known is null. Bytes that are no UTF-8 become U+FFFD.
extern constexpr Format json_format{.name = "json", .write = write_json, .write_comparisons = write_comparisons_json};

/// A document in one line for each.
extern constexpr Format ndjson_format{.name = "ndjson",
                                      .write = write_ndjson,
                                      .write_comparisons = write_comparisons_ndjson,
                                      .records = event_lines,
                                      .intervals = true};

}  // namespace stapgen::show
