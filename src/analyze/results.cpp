// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "analyze/account_text.h"
#include "base/text.h"
#include "rows/results.h"
#include "table/texts.h"

namespace stapgen::analyze {

namespace {

std::int64_t packets_read(const rows::Results& results) {
    std::int64_t n = 0;
    for (const auto& row : results.of<rows::Stage>()) {
        if ((row.stage == "tcp-app" || row.stage == "udp-app") && row.group.empty()) n += row.distribution->n();
    }
    return n;
}

double ratio(std::int64_t of, std::int64_t by) {
    return static_cast<double>(of) / static_cast<double>(by);
}

/// "GRO: 12.2 wire segments per packet, 24.1 per receive call (12,345 in 512 calls)", without what is 1; empty where
/// that is all, or was not counted.
std::string reads_text(const rows::Results& results) {
    const auto segments = counted_beside(results, "wire-segments"), calls = counted_beside(results, "receives"),
               packets = packets_read(results);
    const auto is_one = [](double number) { return number > 0.995 && number < 1.005; };
    if (segments == 0 || packets == 0) return {};
    std::string text;
    if (!is_one(ratio(segments, packets)))
        text = fmt::format("GRO: {:.3g} wire segments per packet", ratio(segments, packets));
    if (calls > 0 && !is_one(ratio(segments, calls))) {
        text += fmt::format("{}{:.3g} {}per receive call ({} in {} call{})", text.empty() ? "" : ", ",
                            ratio(segments, calls), text.empty() ? "wire segments " : "", base::with_commas(segments),
                            base::with_commas(calls), calls == 1 ? "" : "s");
    }
    return text;
}

std::optional<std::string> known_text(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

table::Labels labels_of(const std::map<std::string, std::string>& map) {
    return {map.begin(), map.end()};
}

std::optional<std::int64_t> unless_zero(std::int64_t number) {
    return number != 0 ? std::optional(number) : std::nullopt;
}

std::vector<rows::Cause> causes_of(const std::vector<kinds::Cause>& causes) {
    std::vector<rows::Cause> rows;
    for (const auto& [name, count] : causes)
        rows.push_back({name, count});
    return rows;
}

rows::Accounting accounting_of(const Measured& measured) {
    const auto& account = measured.accounting;
    const auto& transport = measured.transport;
    return {.seen = account.seen,
            .reported = account.reported,
            .filtered = account.filtered,
            .incomplete = account.incomplete_total(),
            .lost = account.lost_total(),
            .unaccounted = account.unaccounted(),
            .closed = account.closed,
            .incomplete_by = causes_of(account.incomplete),
            .lost_by = causes_of(account.lost),
            .other = causes_of(account.other),
            .transport = {transport.skipped_probes, transport.probe_errors, transport.transport_failures,
                          unless_zero(std::max<std::int64_t>(transport.enough_buffer_mb, 0)),
                          causes_of(transport.skipped_by)}};
}

rows::Cost cost_of(const kinds::Cost& cost) {
    const auto percent = [](std::optional<double> share) { return share ? std::optional(*share * 100) : share; };
    rows::Cost row{cost.hits(), cost.expected_hits, cost.measured_ns, cost.cycles()};
    if (cost.cycles_per_s > 0) row.cycles_per_s = cost.cycles_per_s;
    row.one_cpu_percent = percent(cost.share(cost.cycles()));
    row.cpus = cost.cpus;
    if (row.one_cpu_percent && cost.cpus > 0)
        row.all_cpus_percent = *row.one_cpu_percent / static_cast<double>(cost.cpus);
    for (const auto& probe : cost.probes)
        row.probes.push_back(
            {probe.point, probe.hits, probe.cycles, probe.max_cycles, percent(cost.share(probe.cycles))});
    return row;
}

rows::Input input_of(const decode::InputCounts& input) {
    rows::Input row{input.lines, input.recognised, input.unrecognised};
    for (const auto& [number, flaw, excerpt] : input.first_flaws)
        row.first_unrecognised.push_back({number, std::string(decode::describe(flaw)), known_text(excerpt)});
    return row;
}

rows::Origin origin_of(const recording::Origin& origin, std::int64_t number) {
    return {number,
            known_text(origin.host),
            known_text(origin.kernel),
            origin.command,
            labels_of(origin.filters),
            known_text(origin.machine),
            labels_of(origin.labels),
            known_text(origin.build_id),
            origin.sample,
            known_text(origin.definition),
            origin.functions};
}

void put_run(const Measured& measured, const kinds::Asked& asked, rows::Results& results) {
    results.one<rows::Report>() = {measured.recipe, known_text(measured.definition()),
                                   known_text(measured.merge_conflict)};
    results.put<rows::Kept>(measured.of<rows::Kept>());
    results.put<rows::Proposal>(measured.of<rows::Proposal>());
    auto& origins = results.of<rows::Origin>();
    for (const auto& origin : measured.origins)
        origins.push_back(origin_of(origin, std::ssize(origins) + 1));
    results.one<rows::Run>() = {
        .interval = asked.interval,
        .start = measured.start_epoch_ns,
        .end = measured.end_epoch_ns,
        .recordings = measured.recordings,
        .recorded_ns = measured.recordings > 1 ? std::optional(measured.recorded_ns) : std::nullopt,
        .broke_off = known_text(measured.broke_off),
        .clock_set_ns = unless_zero(measured.clock_set_ns),
        .suspended_ns = unless_zero(measured.suspended_ns),
        .aggregated = measured.aggregated > 0,
        .whole = measured.is_whole()};
    set_interval(results.of<rows::Interval>() = measured.of<rows::Interval>(), asked);
}

void put_account(const Measured& measured, rows::Results& results) {
    for (const auto& [name, help, count] : measured.counters)
        results.of<rows::Counter>().push_back({name, help, count});
    results.one<rows::Accounting>() = accounting_of(measured);
    const auto& sample = measured.sample;
    if (sample.one_in != 1) results.one<rows::Sample>() = {sample.one_in, sample.estimated};
    if (!measured.cost.probes.empty()) results.one<rows::Cost>() = cost_of(measured.cost);
    results.one<rows::Input>() = input_of(measured.input);
    for (const auto& note : measured.notes)
        results.of<rows::Note>().push_back({note.text});
}

void put_sentences(const Measured& measured, rows::Sentences& sentences) {
    sentences.kept = kept_lines(measured);
    sentences.span = span_text(measured);
    sentences.hosts = hosts_of(measured);
    sentences.definition = definition_text(measured);
    sentences.origin = origin_lines(measured);
    sentences.account = account_lines(measured);
    sentences.warnings = warnings_of(measured);
    sentences.not_understood = not_understood(measured.input);
}

}  // namespace

std::int64_t counted_beside(const rows::Results& results, std::string_view name) {
    const auto& counts = results.one<rows::Accounting>().other;
    const auto found = std::ranges::find(counts, name, &rows::Cause::name);
    return found == counts.end() ? 0 : found->count;
}

rows::Results results_of(const Measured& measured, const kinds::Asked& asked) {
    rows::Results results;
    put_sentences(measured, results.sentences);
    put_run(measured, asked, results);
    put_kinds(measured, asked, results);
    put_account(measured, results);
    results.sentences.reads = reads_text(results);
    return results;
}

}  // namespace stapgen::analyze
