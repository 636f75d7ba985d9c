// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/json.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>

#include "show/document.h"
#include "study/why.h"

namespace stapgen::show {

namespace {

/// Whole numbers as such, as far as they go.
Json sum_json(double sum) {
    return std::abs(sum) < 9e18 ? Json(static_cast<std::int64_t>(sum)) : Json(sum);
}

Json columns_of(const table::Series& series, const table::Texts& names,
                std::vector<table::Histogram> table::Block::*histograms, const std::string& kind,
                const std::string& unit) {
    Json columns = Json::array();
    for (std::size_t place = 0; place < names.size(); ++place) {
        Json n = Json::array(), p50 = Json::array(), p99 = Json::array(), max = Json::array();
        for (const auto& block : series.blocks()) {
            const auto& stats = table::histogram_of(block, histograms, place);
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

}  // namespace

Json rounded(const std::optional<double>& value) {
    return value ? Json(std::round(*value * 1000) / 1000) : Json(nullptr);
}

void put_place(Json& object, const table::Place& place) {
    object["symbol"] = or_null(place.symbol);
    object["offset"] = or_null(place.offset);
    object["module"] = or_null(place.module);
    object["address"] = place.address ? Json(fmt::format("0x{:x}", *place.address)) : Json(nullptr);
}

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

Json series_json(const rows::Series& row) {
    const auto series = row.series->by_second();
    Json starts = Json::array();
    for (const auto& block : series.blocks())
        starts.push_back(block.start_ns);
    return {{"block_ns", series.block_ns()},
            {"start_ns", std::move(starts)},
            {"stages", columns_of(series, row.stages, &table::Block::stages, "stage", "_ns")},
            {"values", columns_of(series, row.values, &table::Block::values, "value", "")}};
}

Json group_json(const table::Group& group) {
    Json object = Json::object();
    for (const auto& [key, value] : group) {
        std::visit([&, &name = key](const auto& known) { object[name] = known; }, value);
    }
    return object;
}

void put_json(std::ostream& out, const Json& json, int indent) {
    out << json.dump(indent, ' ', true, Json::error_handler_t::replace) << '\n';
}

void put_documents(std::ostream& out, std::size_t size, const std::function<Json(std::size_t)>& document_at,
                   std::string_view schema, std::string_view key) {
    if (size == 1) return put_json(out, document_at(0), 2);
    out << fmt::format("{{\"schema\": \"{}\", \"{}\": [\n", schema, key);
    for (std::size_t i = 0; i < size; ++i) {
        if (i > 0) out << ',';
        put_json(out, document_at(i), -1);
    }
    out << "]}\n";
}

namespace {

/// Makes the document of each report.
auto reports_json(const Reports& reports, const Options& options) {
    return [&](std::size_t place) { return document("stapgen.report/1", reports.results(place, options), options); };
}

/// Why of each.
auto whys_json(const Reports& reports, const Options& options) {
    return [&](std::size_t place) { return document("stapgen.why/1", study::why_of(reports.results(place, options))); };
}

void write_json(std::ostream& out, const Reports& reports, const Options& options) {
    put_documents(out, reports.size(), reports_json(reports, options), "stapgen.reports/1", "reports");
}

void write_whys_json(std::ostream& out, const Reports& reports, const Options& options) {
    put_documents(out, reports.size(), whys_json(reports, options), "stapgen.whys/1", "whys");
}

void put_lines(std::ostream& out, std::size_t size, const auto& document_at) {
    for (std::size_t i = 0; i < size; ++i)
        put_json(out, document_at(i), -1);
}

void write_ndjson(std::ostream& out, const Reports& reports, const Options& options) {
    put_lines(out, reports.size(), reports_json(reports, options));
}

void write_whys_ndjson(std::ostream& out, const Reports& reports, const Options& options) {
    put_lines(out, reports.size(), whys_json(reports, options));
}

Json comparison_json(const Compared& compared) {
    return document("stapgen.compare/1", compared.comparison);
}

void write_comparisons_json(std::ostream& out, std::span<const Compared> all, const Options& /*options*/) {
    put_documents(
        out, all.size(), [&](std::size_t place) { return comparison_json(all[place]); }, "stapgen.compares/1",
        "comparisons");
}

/// Of each a line for the whole and then one for each change.
void write_comparisons_ndjson(std::ostream& out, std::span<const Compared> all, const Options& /*options*/) {
    for (const auto& compared : all) {
        auto whole = comparison_json(compared);
        const auto changes = whole.at("changes");
        whole.erase("changes");
        put_json(out, whole, -1);
        for (const auto& change : changes)
            put_json(out, change, -1);
    }
}

}  // namespace

/// A document of each report, or of several in one.
extern constexpr Format json_format{
    .name = "json", .write = write_json, .write_whys = write_whys_json, .write_comparisons = write_comparisons_json};

/// A document in one line for each.
extern constexpr Format ndjson_format{.name = "ndjson",
                                      .write = write_ndjson,
                                      .write_whys = write_whys_ndjson,
                                      .write_comparisons = write_comparisons_ndjson,
                                      .records = event_lines,
                                      .intervals = true};

}  // namespace stapgen::show
