// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/json.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "show/model/texts.h"

namespace stapgen::show {

namespace {

using Json = nlohmann::ordered_json;
using table::Shape;

/// To a thousandth: of a mean of ns more digits say nothing.
Json rounded(const std::optional<double>& value) {
    return value ? Json(std::round(*value * 1000) / 1000) : Json(nullptr);
}

/// Whole numbers as such, as far as they go.
Json sum_json(double sum) {
    return std::abs(sum) < 9e18 ? Json(static_cast<std::int64_t>(sum)) : Json(sum);
}

void put_place(Json& object, const table::Place& place) {
    object["symbol"] = or_null(place.symbol);
    object["offset"] = or_null(place.offset);
    object["module"] = or_null(place.module);
    object["address"] = place.address ? Json(fmt::format("0x{:x}", *place.address)) : Json(nullptr);
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

/// What is written as it is: flags, numbers, texts.
template <class T>
Json value_json(const T& value) {
    return value;
}
Json value_json(const table::Labels& labels) {
    // From a map: one key after the other would be looked for among all.
    return std::map<std::string, std::string>(labels.begin(), labels.end());
}
Json value_json(const table::Durations& durations) {
    Json object = Json::object();
    for (const auto& [name, ns] : durations)
        object[name] = or_null(ns);
    return object;
}
Json value_json(const table::Group& group) {
    return group_json(group);
}
Json value_json(const table::Path& path) {
    Json frames = Json::array();
    for (const auto& place : path)
        put_place(frames.emplace_back(), place);
    return frames;
}

template <class NameOf, class Cell>
Json cell_json(const Cell& cell) {
    if constexpr (table::is_optional<Cell>) {
        // A path that is not known has no frames.
        if constexpr (table::is_shared<typename Cell::value_type>) return cell ? value_json(**cell) : Json::array();
        return cell ? cell_json<NameOf>(*cell) : Json(nullptr);
    } else if constexpr (table::is_shared<Cell>) {
        return value_json(*cell);
    } else if constexpr (std::is_same_v<NameOf, table::Moment>) {
        return utc_time(cell);
    } else if constexpr (std::is_base_of_v<table::Mean, NameOf>) {
        return rounded(cell);
    } else if constexpr (std::is_same_v<NameOf, table::Share>) {
        return std::round(cell * 1e6) / 1e6;
    } else {
        return value_json(cell);
    }
}

class Document {
  public:
    Document(Json& json, const Options& options) : json_(json), options_(options) {}

    /// Rows of large tables are let go as they are written: a document takes memory, too.
    template <class Row>
    void table(std::vector<Row> rows) {
        if (!(Row::about.is_rare && rows.empty())) put_table(json_, std::string(Row::about.name), rows);
    }

  private:
    template <class Row>
    void put_table(Json& object, const std::string& key, std::vector<Row>& rows) {
        constexpr auto shape = Row::about.shape;
        if constexpr (shape == Shape::fields) put_row(object, rows.front());
        if constexpr (shape == Shape::record) put_row(object[key], rows.front());
        if constexpr (shape == Shape::series) object[key] = series_json(rows.front());
        if constexpr (shape == Shape::rows) put_rows(object[key] = Json::array(), rows);
        if constexpr (shape == Shape::list) put_list(object[key] = Json::array(), rows);
        if constexpr (shape == Shape::map) put_map(object[key] = Json::object(), rows);
    }
    template <class Row>
    void put_rows(Json& array, std::vector<Row>& rows) {
        for (auto& row : rows) {
            put_row(array.emplace_back(Json::object()), row);
            row = Row();
        }
    }
    template <class Row>
    static void put_list(Json& array, const std::vector<Row>& rows) {
        for (const auto& row : rows) {
            table::each_column<Row>([&](auto /*rule*/, auto /*name*/, auto member, const table::Shown& /*shown*/) {
                array.push_back(value_json(row.*member));
            });
        }
    }
    template <class Row>
    static void put_map(Json& object, const std::vector<Row>& rows) {
        for (const auto& row : rows) {
            const std::string* key = nullptr;
            table::each_column<Row>([&](auto /*rule*/, auto /*name*/, auto member, const table::Shown& /*shown*/) {
                if constexpr (std::is_same_v<std::remove_cvref_t<decltype(row.*member)>, std::string>) {
                    if (key == nullptr) key = &(row.*member);
                } else {
                    object[*key] = value_json(row.*member);
                }
            });
        }
    }

    template <class Row>
    void put_row(Json& object, Row& row) {
        table::each_column<Row>([&]<class NameOf>(auto /*rule*/, NameOf name, auto member, const table::Shown& shown) {
            if (shown.in == table::In::rows || shown.in == table::In::hidden) return;
            put_cell<NameOf>(object, std::string(name.text), row.*member, shown.is_rare);
        });
    }

    /// A cell's keys: one with the column's name, or what it consists of.
    template <class NameOf, class Cell>
    void put_cell(Json& object, const std::string& name, Cell& cell, bool is_rare) {
        if constexpr (table::is_rows<Cell>) {
            if (!is_rare || !cell.empty()) put_table(object, name, cell);
        } else if constexpr (table::is_row<Cell>) {
            put_row(object, cell);
        } else if constexpr (std::is_same_v<Cell, table::Place>) {
            put_place(object, cell);
        } else if constexpr (std::is_same_v<Cell, table::Reason>) {
            object["reason"] = or_null(cell.name);
            object["reason_number"] = cell.number < 0 ? Json(nullptr) : Json(cell.number);
        } else if constexpr (std::is_same_v<Cell, table::Shared<table::Histogram>>) {
            put_distribution(object, *cell, std::is_same_v<NameOf, table::Ns> ? "_ns" : "", options_.percentiles);
        } else {
            if constexpr (table::is_optional<Cell>) {
                if (is_rare && !cell) return;
            }
            if constexpr (std::is_same_v<Cell, bool>) {
                if (is_rare && !cell) return;
            }
            object[name] = cell_json<NameOf>(cell);
        }
    }

    /// An array for each column, one element for each block: short, and a table to programs.
    static Json series_json(const rows::Series& row) {
        const auto series = row.series->by_second();
        Json starts = Json::array();
        for (const auto& block : series.blocks())
            starts.push_back(block.start_ns);
        return {{"block_ns", series.block_ns()},
                {"start_ns", std::move(starts)},
                {"stages", columns_of(series, row.stages, &table::Block::stages, "stage", "_ns")},
                {"values", columns_of(series, row.values, &table::Block::values, "value", "")}};
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

    Json& json_;
    const Options& options_;
};

Json report_json(const Reports& reports, std::size_t place, const Options& options) {
    auto results = reports.results(place, options);
    Json json;
    json["schema"] = "stapgen.report/1";
    Document document(json, options);
    results.each([&]<class Row>(table::TableOf<Row>& rows) {
        if constexpr (Row::about.shape != Shape::none) document.table(std::exchange(rows, {}));
    });
    return json;
}

}  // namespace

Json group_json(const table::Group& group) {
    Json object = Json::object();
    for (const auto& [key, value] : group) {
        std::visit([&, &name = key](const auto& known) { object[name] = known; }, value);
    }
    return object;
}

Json origins_json(const rows::Results& results) {
    Json json;
    const Options options;
    Document(json, options).table<rows::Origin>(results.of<rows::Origin>());
    return json["origins"];
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
