#include "report/json_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/wall_time.h"

namespace stapgen::report {

namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// To a thousandth: of a mean of ns more digits say nothing.
Json rounded(const std::optional<double>& value) {
    return value ? Json(std::round(*value * 1000) / 1000) : Json(nullptr);
}

Json time_or_null(const std::optional<std::int64_t>& epoch_ns) {
    return epoch_ns ? Json(utc_time(*epoch_ns)) : Json(nullptr);
}

Json group_json(const analyze::Group& group) {
    Json object = Json::object();
    for (const auto& [key, value] : group) {
        std::visit([&, &name = key](const auto& known) { object[name] = known; }, value);
    }
    return object;
}

/// `kind` is "stage" or "value", `unit` the suffix of its keys.
Json measure_json(const analyze::Measure& measure, const std::string& kind, const std::string& unit,
                  const std::vector<analyze::Percentile>& percentiles) {
    const auto& stats = measure.stats;
    Json object;
    object[kind] = measure.name;
    object["group"] = group_json(measure.group);
    object["n"] = stats.n();
    object["mean" + unit] = rounded(stats.mean());
    object["stddev" + unit] = rounded(stats.stddev());
    object["min" + unit] = or_null(stats.min());
    object["max" + unit] = or_null(stats.max());
    Json values = Json::object();
    for (const auto& [text, percent] : percentiles)
        values[text] = or_null(stats.percentile(percent));
    object["percentiles" + unit] = std::move(values);
    return object;
}

Json drop_json(const analyze::Drop& drop) {
    Json object;
    object["time"] = time_or_null(drop.end_epoch_ns);
    object["interval"] = drop.interval;
    object["symbol"] = or_null(drop.symbol);
    object["offset"] = or_null(drop.offset);
    object["module"] = or_null(drop.module);
    object["address"] = drop.address ? Json(fmt::format("0x{:x}", *drop.address)) : Json(nullptr);
    object["reason"] = or_null(drop.reason_name);
    object["reason_number"] = drop.reason < 0 ? Json(nullptr) : Json(drop.reason);
    object["count"] = drop.count;
    return object;
}

Json causes_json(const std::vector<analyze::Cause>& causes) {
    Json object = Json::object();
    for (const auto& [name, count] : causes)
        object[name] = count;
    return object;
}

Json accounting_json(const analyze::Summary& summary) {
    const auto& accounting = summary.accounting;
    Json object;
    object["seen"] = accounting.seen;
    object["reported"] = accounting.reported;
    object["filtered"] = accounting.filtered;
    object["incomplete"] = accounting.incomplete_total();
    object["lost"] = accounting.lost_total();
    object["unaccounted"] = accounting.unaccounted();
    object["incomplete_by"] = causes_json(accounting.incomplete);
    object["lost_by"] = causes_json(accounting.lost);
    object["other"] = causes_json(accounting.other);
    object["skipped_probes"] = summary.transport.skipped_probes;
    object["probe_errors"] = summary.transport.probe_errors;
    object["transport_failures"] = summary.transport.transport_failures;
    object["closed"] = accounting.closed;
    return object;
}

Json input_json(const decode::InputCounts& input) {
    Json object;
    object["lines"] = input.lines;
    object["recognised"] = input.recognised;
    object["unrecognised"] = input.unrecognised;
    Json first = Json::array();
    for (const auto& [number, flaw, excerpt] : input.first_flaws) {
        first.push_back({{"line", number}, {"why", decode::describe(flaw)}});
    }
    object["first_unrecognised"] = std::move(first);
    return object;
}

}  // namespace

void write_json(std::ostream& out, const analyze::Summary& summary, const JsonOptions& options) {
    Json document;
    document["schema"] = "stapgen.report/1";
    document["recipe"] = summary.recipe;
    if (options.interval) document["interval"] = *options.interval;
    document["start"] = time_or_null(summary.start_epoch_ns);
    document["end"] = time_or_null(summary.end_epoch_ns);
    document["stages"] = Json::array();
    for (const auto& stage : summary.stages) {
        document["stages"].push_back(measure_json(stage, "stage", "_ns", options.percentiles));
    }
    document["values"] = Json::array();
    for (const auto& value : summary.values) {
        document["values"].push_back(measure_json(value, "value", "", options.percentiles));
    }
    document["relative_error"] = analyze::relative_error;
    document["drops"] = Json::array();
    for (const auto& drop : summary.drops) {
        document["drops"].push_back(drop_json(drop));
        // In an interval's own summary they count from it.
        if (options.interval) document["drops"].back()["interval"] = *options.interval;
    }
    document["counters"] = Json::array();
    for (const auto& [name, help, count] : summary.counters) {
        document["counters"].push_back({{"name", name}, {"help", help}, {"count", or_null(count)}});
    }
    document["accounting"] = accounting_json(summary);
    document["input"] = input_json(summary.input);
    out << document.dump(options.one_line ? -1 : 2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace stapgen::report
