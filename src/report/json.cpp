// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json.h"

#include <fmt/format.h>

#include <cmath>

#include "report/model/report.h"

namespace stapgen::report {

namespace {

using Json = nlohmann::ordered_json;

Json array_of(const auto& items, auto convert) {
    Json array = Json::array();
    for (const auto& item : items)
        array.push_back(convert(item));
    return array;
}

/// To a thousandth: of a mean of ns more digits say nothing.
Json rounded(const std::optional<double>& value) {
    return value ? Json(std::round(*value * 1000) / 1000) : Json(nullptr);
}

Json time_or_null(const std::optional<std::int64_t>& epoch_ns) {
    return epoch_ns ? Json(utc_time(*epoch_ns)) : Json(nullptr);
}

}  // namespace

Json group_json(const analyze::Group& group) {
    Json object = Json::object();
    for (const auto& [key, value] : group) {
        std::visit([&, &name = key](const auto& known) { object[name] = known; }, value);
    }
    return object;
}

Json origins_json(const std::vector<analyze::Origin>& origins) {
    const auto text = [](const std::string& known) { return known.empty() ? Json(nullptr) : Json(known); };
    return array_of(origins, [&](const analyze::Origin& origin) -> Json {
        return {{"host", text(origin.host)},
                {"kernel", text(origin.kernel)},
                {"command", origin.command},
                {"filters", Json(origin.filters)},
                {"machine", text(origin.machine)},
                {"labels", Json(origin.labels)},
                {"build_id", text(origin.build_id)},
                {"sample", origin.sample},
                {"definition", text(origin.definition)},
                {"functions", origin.functions}};
    });
}

namespace {

/// Whole numbers as such, as far as they go.
Json sum_json(double sum) {
    return std::abs(sum) < 9e18 ? Json(static_cast<std::int64_t>(sum)) : Json(sum);
}

/// To a millionth.
Json part_json(double part) {
    return std::round(part * 1e6) / 1e6;
}

/// `kind` is "stage" or "value", `unit` the suffix of its keys.
Json measure_json(const analyze::Measure& measure, const std::string& kind, const std::string& unit,
                  const std::vector<table::Percentile>& percentiles) {
    const auto& stats = measure.stats;
    Json values = Json::object(), intervals = Json::object();
    for (const auto& [text, percent] : percentiles) {
        values[text] = or_null(stats.percentile(percent));
        const auto interval = stats.confidence(percent);
        intervals[text] = interval ? Json::array({interval->low, interval->high}) : Json(nullptr);
    }
    return {{kind, measure.name},
            {"group", group_json(measure.group)},
            {"n", stats.n()},
            {"sum" + unit, sum_json(stats.sum())},
            {"mean" + unit, rounded(stats.mean())},
            {"stddev" + unit, rounded(stats.stddev())},
            {"min" + unit, or_null(stats.min())},
            {"max" + unit, or_null(stats.max())},
            {"percentiles" + unit, std::move(values)},
            {"percentiles_ci" + unit, std::move(intervals)}};
}

Json tail_json(const DirectionReport& direction) {
    const auto& tail = direction.tail;
    Json stages = Json::array();
    for (const auto& share : tail ? tail->shares : std::vector<analyze::Breakdown::Tail::Share>()) {
        stages.push_back({{"stage", share.stage},
                          {"slow_mean_ns", rounded(share.slow_mean_ns)},
                          {"rest_mean_ns", rounded(share.rest_mean_ns)},
                          {"slow_share", part_json(share.slow)},
                          {"rest_share", part_json(share.rest)},
                          {"excess_share", part_json(share.of_excess)}});
    }
    return {{"way", direction.breakdown.direction()},
            {"percent", tail_percent},
            {"sentence", direction.sentence},
            {"threshold_ns", tail ? Json(tail->threshold_ns) : Json(nullptr)},
            {"n_slow", tail ? Json(tail->n_slow) : Json(nullptr)},
            {"n_rest", tail ? Json(tail->n_rest) : Json(nullptr)},
            {"slow_mean_ns", tail ? rounded(tail->slow_mean_ns) : Json(nullptr)},
            {"rest_mean_ns", tail ? rounded(tail->rest_mean_ns) : Json(nullptr)},
            {"stages", std::move(stages)}};
}

void add_slowest(Json& array, const DirectionReport& direction) {
    const auto& breakdown = direction.breakdown;
    for (const auto& record : direction.slowest) {
        Json stages = Json::object();
        for (std::size_t i = 0; i < record.stages.size() && i < breakdown.stages().size(); ++i)
            stages[breakdown.stages()[i]] = or_null(record.stages[i]);
        array.push_back({{"way", breakdown.direction()},
                         {"total_ns", record.total_ns},
                         {"time_ns", or_null(record.time_ns)},
                         {"stages_ns", std::move(stages)},
                         {"of", group_json(record.of)}});
    }
}

/// An array for each column, one element for each block: short, and a table to programs. Of what is in `histograms` of
/// each block, in the order of `measures`.
Json series_columns(const std::vector<analyze::Measure>& measures, const std::vector<analyze::Block>& blocks,
                    std::vector<table::Histogram> analyze::Block::*histograms, const std::string& kind,
                    const std::string& unit) {
    Json columns = Json::array();
    std::size_t place = 0;
    for (const auto* measure : in_series(measures)) {
        Json n = Json::array(), p50 = Json::array(), p99 = Json::array(), max = Json::array();
        for (const auto& block : blocks) {
            const auto& all = block.*histograms;
            const auto stats = place < all.size() ? all[place] : table::Histogram();
            n.push_back(stats.n());
            p50.push_back(or_null(stats.percentile(50)));
            p99.push_back(or_null(stats.percentile(99)));
            max.push_back(or_null(stats.max()));
        }
        columns.push_back(
            {{kind, measure->name}, {"n", n}, {"p50" + unit, p50}, {"p99" + unit, p99}, {"max" + unit, max}});
        ++place;
    }
    return columns;
}

Json series_json(const analyze::Summary& summary) {
    const auto series = summary.series.by_second();
    const auto& blocks = series.blocks();
    Json starts = Json::array();
    for (const auto& block : blocks)
        starts.push_back(block.start_ns);
    return {{"block_ns", series.block_ns()},
            {"start_ns", std::move(starts)},
            {"stages", series_columns(summary.stages, blocks, &analyze::Block::stages, "stage", "_ns")},
            {"values", series_columns(summary.values, blocks, &analyze::Block::values, "value", "")}};
}

Json averages_json(const std::vector<analyze::Average>& averages) {
    return array_of(averages, [](const analyze::Average& average) -> Json {
        const std::string unit = average.is_time ? "_ns" : "";
        return {{"name", average.name},
                {"n", average.n},
                {"mean" + unit, rounded(average.mean)},
                {"error" + unit, rounded(average.error)}};
    });
}

void add_analysis(Json& document, const Report& report) {
    const auto& summary = report.summary;
    document["tail"] = Json::array();
    document["slowest"] = Json::array();
    for (const auto& direction : report.directions) {
        document["tail"].push_back(tail_json(direction));
        add_slowest(document["slowest"], direction);
    }
    document["series"] = series_json(summary);
    document["averages"] = averages_json(summary.averages);
    document["average_intervals"] =
        array_of(summary.average_intervals, [](const analyze::AverageInterval& interval) -> Json {
            return {{"line", interval.line}, {"n", interval.n}, {"averages", averages_json(interval.averages)}};
        });
}

void add_drops(Json& document, const Report& report) {
    const auto& shown = report.interval_drops;
    document["drops"] = array_of(shown.rows, [&](const analyze::Drop& drop) -> Json {
        return {{"time", time_or_null(drop.end_epoch_ns)},
                {"interval", report.options.interval.value_or(drop.interval)},
                {"symbol", or_null(drop.symbol)},
                {"offset", or_null(drop.offset)},
                {"module", or_null(drop.module)},
                {"address", drop.address ? Json(fmt::format("0x{:x}", *drop.address)) : Json(nullptr)},
                {"reason", or_null(drop.reason_name)},
                {"reason_number", drop.reason < 0 ? Json(nullptr) : Json(drop.reason)},
                {"group", group_json(drop.group)},
                {"count", drop.count},
                {"benign", advice_of(drop).benign}};
    });
    document["benign_not_shown"] = {{"rows", shown.hidden_rows}, {"count", shown.hidden}};
    document["advice"] = array_of(advice_for(shown.rows), [](const GivenAdvice& given) -> Json {
        const auto& advice = given.advice;
        return {{"reason", or_null(given.reason)},
                {"function", advice.function.empty() ? Json(nullptr) : Json(advice.function)},
                {"benign", advice.benign},
                {"count", given.count},
                {"text", advice.text}};
    });
}

/// Only where call paths were recorded.
void add_stacks(Json& document, const Report& report) {
    if (report.summary.stacks.empty()) return;
    document["stacks"] = array_of(report.summary.stacks, [&](const analyze::Stack& stack) -> Json {
        return {{"time", time_or_null(stack.end_epoch_ns)},
                {"interval", report.options.interval.value_or(stack.interval)},
                {"reason", or_null(stack.reason_name)},
                {"reason_number", stack.reason < 0 ? Json(nullptr) : Json(stack.reason)},
                {"count", stack.count},
                {"frames", array_of(stack.frames, [](const analyze::Frame& frame) -> Json {
                     return {{"symbol", or_null(frame.symbol)},
                             {"offset", or_null(frame.offset)},
                             {"module", or_null(frame.module)},
                             {"address", frame.address ? Json(fmt::format("0x{:x}", *frame.address)) : Json(nullptr)}};
                 })}};
    });
}

void add_counts(Json& document, const analyze::Summary& summary, const Options& options) {
    document["counted"] = summary.counted.empty() ? Json(nullptr) : Json(summary.counted);
    document["counts"] = array_of(summary.tallies, [&](const analyze::Tally& tally) {
        Json count = {{"time", time_or_null(tally.end_epoch_ns)},
                      {"interval", options.interval.value_or(tally.interval)},
                      {"group", group_json(tally.group)},
                      {"count", tally.count},
                      {"meaning", tally.meaning.empty() ? Json(nullptr) : Json(tally.meaning)},
                      {"loss", tally.loss}};
        // Only of what has them.
        if (tally.loss_by_name) count["loss_by_name"] = true;
        if (tally.per_s) count["per_s"] = *tally.per_s;
        return count;
    });
    if (summary.counters_read > 0) document["counters_read"] = summary.counters_read;
}

/// Only of recipes that have calls.
void add_calls(Json& document, const analyze::Summary& summary) {
    if (summary.calls.empty()) return;
    document["calls"] = array_of(summary.calls, [](const analyze::Call& call) -> Json {
        return {{"packet", call.packet},
                {"begin_ns", call.begin_ns},
                {"duration_ns", call.duration_ns},
                {"depth", call.depth},
                {"function", call.function},
                {"args", call.args},
                {"context", call.in_thread ? "thread" : "softirq"},
                {"cpu", call.cpu},
                {"tid", call.tid},
                {"comm", call.comm}};
    });
    document["calls_left_out"] = summary.calls_left_out;
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
    if (const auto& known = summary.transport.skipped_by; !known.empty()) object["skipped_by"] = causes_json(known);
    object["probe_errors"] = summary.transport.probe_errors;
    object["transport_failures"] = summary.transport.transport_failures;
    if (summary.transport.enough_buffer_mb > 0) object["enough_buffer_mb"] = summary.transport.enough_buffer_mb;
    object["closed"] = accounting.closed;
    return object;
}

/// Nothing where it was not measured.
void add_cost(Json& document, const analyze::Cost& cost) {
    if (cost.probes.empty()) return;
    const auto percent = [](std::optional<double> share) { return share ? Json(*share * 100) : Json(nullptr); };
    Json object;
    const auto share = cost.share(cost.cycles());
    object["hits"] = cost.hits();
    object["expected_hits"] = or_null(cost.expected_hits);
    object["measured_ns"] = cost.measured_ns;
    object["cycles"] = cost.cycles();
    object["cycles_per_s"] = cost.cycles_per_s > 0 ? Json(cost.cycles_per_s) : Json(nullptr);
    object["one_cpu_percent"] = percent(share);
    object["cpus"] = cost.cpus;
    object["all_cpus_percent"] =
        share && cost.cpus > 0 ? Json(*share * 100 / static_cast<double>(cost.cpus)) : Json(nullptr);
    object["probes"] = array_of(cost.probes, [&](const analyze::ProbeCost& probe) -> Json {
        return {{"point", probe.point},
                {"hits", probe.hits},
                {"cycles", probe.cycles},
                {"max_cycles", probe.max_cycles},
                {"one_cpu_percent", percent(cost.share(probe.cycles))}};
    });
    document["cost"] = std::move(object);
}

Json input_json(const decode::InputCounts& input) {
    Json first = Json::array();
    for (const auto& [number, flaw, excerpt] : input.first_flaws) {
        first.push_back({{"line", number}, {"why", decode::describe(flaw)}});
        if (!excerpt.empty()) first.back()["text"] = excerpt;
    }
    return {{"lines", input.lines},
            {"recognised", input.recognised},
            {"unrecognised", input.unrecognised},
            {"first_unrecognised", std::move(first)}};
}

Json report_json(const analyze::Summary& summary, const Options& options) {
    const Report report(summary, options);
    Json document;
    document["schema"] = "stapgen.report/1";
    document["recipe"] = summary.recipe;
    document["definition"] = summary.definition().empty() ? Json(nullptr) : Json(summary.definition());
    if (!summary.merge_conflict.empty()) document["apart"] = summary.merge_conflict;
    document["origins"] = origins_json(summary.origins);
    if (options.interval) document["interval"] = *options.interval;
    document["start"] = time_or_null(summary.start_epoch_ns);
    document["end"] = time_or_null(summary.end_epoch_ns);
    document["recordings"] = summary.recordings;
    if (summary.recordings > 1) document["recorded_ns"] = summary.recorded_ns;
    if (!summary.broke_off.empty()) document["broke_off"] = summary.broke_off;
    if (summary.clock_set_ns != 0) document["clock_set_ns"] = summary.clock_set_ns;
    if (summary.suspended_ns != 0) document["suspended_ns"] = summary.suspended_ns;
    document["aggregated"] = summary.aggregated > 0;
    document["stages"] = array_of(report.stages.all, [&](const Row& row) {
        auto stage = measure_json(*row.measure, "stage", "_ns", options.percentiles);
        stage["share"] = row.share ? part_json(*row.share) : Json(nullptr);
        return stage;
    });
    document["values"] = array_of(summary.values, [&](const analyze::Measure& value) {
        return measure_json(value, "value", "", options.percentiles);
    });
    document["relative_error"] = table::relative_error;
    document["resolution_ns"] = summary.resolution_ns;
    document["confidence_level"] = 0.95;
    add_analysis(document, report);
    add_drops(document, report);
    add_stacks(document, report);
    add_counts(document, summary, options);
    add_calls(document, summary);
    document["counters"] = array_of(summary.counters, [](const analyze::Counter& counter) -> Json {
        return {{"name", counter.name}, {"help", counter.help}, {"count", or_null(counter.count)}};
    });
    document["accounting"] = accounting_json(summary);
    if (summary.sample.one_in != 1) {
        document["sample"] = {{"one_in", summary.sample.one_in}, {"estimated_records", summary.sample.estimated}};
    }
    add_cost(document, summary.cost);
    document["input"] = input_json(summary.input);
    document["notes"] = array_of(summary.notes, [](const analyze::Note& note) { return note.text; });
    return document;
}

void write_json(std::ostream& out, std::span<const analyze::Summary> reports, const Options& options) {
    if (reports.size() == 1) return put_json(out, report_json(reports.front(), options), 2);
    out << "{\"schema\": \"stapgen.reports/1\", \"reports\": [\n";
    for (const auto& report : reports) {
        if (&report != &reports.front()) out << ',';
        put_json(out, report_json(report, options), -1);
    }
    out << "]}\n";
}

void write_ndjson(std::ostream& out, std::span<const analyze::Summary> reports, const Options& options) {
    for (const auto& report : reports)
        put_json(out, report_json(report, options), -1);
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

}  // namespace stapgen::report
