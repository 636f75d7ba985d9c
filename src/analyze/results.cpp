// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/results.h"

#include <fmt/format.h>

#include "analyze/account_text.h"
#include "analyze/reads_text.h"
#include "base/text.h"

namespace stapgen::analyze {

namespace {

using table::Meet;
using table::Scope;
using table::Shape;
using table::Type;
using table::Value;

Value known_text(const std::string& text) {
    return text.empty() ? Value() : Value(text);
}

table::Labels labels_of(const std::map<std::string, std::string>& map) {
    return {map.begin(), map.end()};
}

Value above_zero(std::int64_t number) {
    return number > 0 ? Value(number) : Value();
}

Value unless_zero(std::int64_t number) {
    return number != 0 ? Value(number) : Value();
}

void add_causes(std::string name, std::string row_name, const std::vector<kinds::Cause>& causes,
                table::Results& results, bool is_rare = false) {
    table::Table table{.name = std::move(name),
                       .row_name = std::move(row_name),
                       .columns = {{"name", Type::text, Meet::key}, {"count", Type::count, Meet::add}},
                       .shape = Shape::map,
                       .is_rare = is_rare};
    for (const auto& [cause, count] : causes)
        table.rows.push_back({cause, count});
    results.tables.push_back(std::move(table));
}

void add_accounting(const Measured& measured, table::Results& results) {
    const auto& accounting = measured.accounting;
    results.tables.push_back(
        {.name = "accounting",
         .row_name = "account",
         .columns = {{"seen"},
                     {"reported"},
                     {"filtered"},
                     {"incomplete"},
                     {"lost"},
                     {"unaccounted"},
                     {"closed", Type::flag, Meet::smallest}},
         .rows = {{accounting.seen, accounting.reported, accounting.filtered, accounting.incomplete_total(),
                   accounting.lost_total(), accounting.unaccounted(), accounting.closed}},
         .shape = Shape::record});
    add_causes("accounting.incomplete_by", "incomplete", accounting.incomplete, results);
    add_causes("accounting.lost_by", "lost", accounting.lost, results);
    add_causes("accounting.other", "other", accounting.other, results);
    const auto& transport = measured.transport;
    results.tables.push_back({.name = "accounting.transport",
                              .row_name = "transport",
                              .columns = {{"skipped_probes"},
                                          {"probe_errors"},
                                          {"transport_failures"},
                                          {"enough_buffer_mb", Type::count, Meet::largest, true, table::In::documents}},
                              .rows = {{transport.skipped_probes, transport.probe_errors, transport.transport_failures,
                                        above_zero(transport.enough_buffer_mb)}},
                              .shape = Shape::fields});
    add_causes("accounting.skipped_by", "skipped", transport.skipped_by, results, true);
}

void add_cost(const kinds::Cost& cost, table::Results& results) {
    const auto percent = [](std::optional<double> share) { return share ? Value(*share * 100) : Value(); };
    const auto share = cost.share(cost.cycles());
    table::Table whole{.name = "cost",
                       .columns = {{"hits"},
                                   {"expected_hits"},
                                   {"measured_ns", Type::duration},
                                   {"cycles"},
                                   {"cycles_per_s", Type::number, Meet::same},
                                   {"one_cpu_percent", Type::number, Meet::same},
                                   {"cpus", Type::count, Meet::largest},
                                   {"all_cpus_percent", Type::number, Meet::same}},
                       .shape = Shape::record,
                       .is_rare = true};
    if (!cost.probes.empty()) {
        whole.rows.push_back({cost.hits(), table::value_of(cost.expected_hits), cost.measured_ns, cost.cycles(),
                              cost.cycles_per_s > 0 ? Value(cost.cycles_per_s) : Value(), percent(share), cost.cpus,
                              share && cost.cpus > 0 ? Value(*share * 100 / static_cast<double>(cost.cpus)) : Value()});
    }
    results.tables.push_back(std::move(whole));
    table::Table probes{.name = "cost.probes",
                        .columns = {{"point", Type::text, Meet::key},
                                    {"hits"},
                                    {"cycles"},
                                    {"max_cycles", Type::count, Meet::largest},
                                    {"one_cpu_percent", Type::number, Meet::same}}};
    for (const auto& probe : cost.probes)
        probes.rows.push_back(
            {probe.point, probe.hits, probe.cycles, probe.max_cycles, percent(cost.share(probe.cycles))});
    results.tables.push_back(std::move(probes));
}

void add_input(const decode::InputCounts& input, table::Results& results) {
    results.tables.push_back({.name = "input",
                              .row_name = "input",
                              .columns = {{"lines"}, {"recognised"}, {"unrecognised"}},
                              .rows = {{input.lines, input.recognised, input.unrecognised}},
                              .shape = Shape::record});
    table::Table first{
        .name = "input.first_unrecognised",
        .columns = {
            {"line", Type::count, Meet::key}, {"why", Type::text, Meet::key}, {"text", Type::text, Meet::key, true}}};
    for (const auto& [number, flaw, excerpt] : input.first_flaws)
        first.rows.push_back({number, std::string(decode::describe(flaw)), known_text(excerpt)});
    results.tables.push_back(std::move(first));
}

table::Table origins_table(const std::vector<recording::Origin>& origins) {
    table::Table table{.name = "origins",
                       .row_name = "origin",
                       .columns = {{"number", Type::count, Meet::key, false, table::In::rows},
                                   {"host", Type::text, Meet::never},
                                   {"kernel", Type::text, Meet::never},
                                   {"command", Type::texts, Meet::never},
                                   {"filters", Type::labels, Meet::never},
                                   {"machine", Type::text, Meet::never},
                                   {"labels", Type::labels, Meet::never},
                                   {"build_id", Type::text, Meet::never},
                                   {"sample", Type::count, Meet::never},
                                   {"definition", Type::text, Meet::never},
                                   {"functions", Type::texts, Meet::never, false, table::In::documents}}};
    for (const auto& origin : origins) {
        table.rows.push_back({static_cast<std::int64_t>(table.rows.size() + 1), known_text(origin.host),
                              known_text(origin.kernel), table::Texts(origin.command), labels_of(origin.filters),
                              known_text(origin.machine), labels_of(origin.labels), known_text(origin.build_id),
                              origin.sample, known_text(origin.definition), table::Texts(origin.functions)});
    }
    return table;
}

void put_run(const Measured& measured, const kinds::Asked& asked, table::Results& results) {
    results.tables.push_back(
        {.name = "report",
         .columns = {{"recipe", Type::text, Meet::key},
                     {"definition", Type::text, Meet::key},
                     {"apart", Type::text, Meet::first, true}},
         .rows = {{measured.recipe, known_text(measured.definition()), known_text(measured.merge_conflict)}},
         .shape = Shape::fields});
    results.tables.push_back(origins_table(measured.origins));
    results.tables.push_back(
        {.name = "run",
         .columns = {{"interval", Type::count, Meet::same, true},
                     {"start", Type::time, Meet::smallest},
                     {"end", Type::time, Meet::largest},
                     {"recordings", Type::count, Meet::add},
                     {"recorded_ns", Type::duration, Meet::add, true},
                     {"broke_off", Type::text, Meet::first, true},
                     {"clock_set_ns", Type::duration, Meet::largest, true},
                     {"suspended_ns", Type::duration, Meet::add, true},
                     {"aggregated", Type::flag, Meet::largest}},
         .rows = {{table::value_of(asked.interval), table::value_of(measured.start_epoch_ns),
                   table::value_of(measured.end_epoch_ns), measured.recordings,
                   measured.recordings > 1 ? Value(measured.recorded_ns) : Value(), known_text(measured.broke_off),
                   unless_zero(measured.clock_set_ns), unless_zero(measured.suspended_ns), measured.aggregated > 0}},
         .shape = Shape::fields});
    auto intervals = measured.or_empty(kinds::intervals_table());
    set_interval(intervals, asked);
    results.tables.push_back(std::move(intervals));
}

table::Table counters_table(const Measured& measured) {
    table::Table table{
        .name = "counters",
        .row_name = "counter",
        .columns = {
            {"name", Type::text, Meet::key, false, table::In::all, {.place = 2, .heading = "COUNTER", .is_head = true}},
            {"help", Type::text, Meet::smallest, false, table::In::documents, {3, "WHAT"}},
            {"count", Type::count, Meet::add, false, table::In::all, {1, "COUNT"}}}};
    for (const auto& [name, help, count] : measured.counters)
        table.rows.push_back({name, help, table::value_of(count)});
    return table;
}

void put_account(const Measured& measured, table::Results& results) {
    results.tables.push_back(counters_table(measured));
    add_accounting(measured, results);
    results.tables.push_back({.name = "whole",
                              .columns = {{"whole", Type::flag, Meet::smallest}},
                              .rows = {{measured.is_whole()}},
                              .shape = Shape::none});
    const auto& sample = measured.sample;
    results.tables.push_back({.name = "sample",
                              .columns = {{"one_in", Type::count, Meet::same}, {"estimated_records"}},
                              .rows = sample.one_in == 1 ? std::vector<table::Row>()
                                                         : std::vector<table::Row>{{sample.one_in, sample.estimated}},
                              .shape = Shape::record,
                              .is_rare = true});
    add_cost(measured.cost, results);
    add_input(measured.input, results);
    table::Table notes{.name = "notes", .columns = {{"note", Type::text, Meet::key}}, .shape = Shape::list};
    for (const auto& note : measured.notes)
        notes.rows.push_back({note.text});
    results.tables.push_back(std::move(notes));
}

void put_sentences(const Measured& measured, table::Results& results) {
    const auto say_all = [&](std::string_view about, std::vector<std::string> texts) {
        for (auto& text : texts)
            results.say(about, std::move(text));
    };
    results.say("span", span_text(measured));
    say_all("host", hosts_of(measured));
    results.say("definition", definition_text(measured));
    say_all("origin", origin_lines(measured));
    say_all("account", account_lines(measured));
    say_all("warning", warnings_of(measured));
    say_all("not_understood", not_understood(measured.input));
}

}  // namespace

std::int64_t counted_beside(const table::Results& results, std::string_view name) {
    const auto& counts = results.at("accounting.other");
    for (const auto& row : counts.rows)
        if (table::text_of(counts.at(row, "name")) == name) return table::count_of(counts.at(row, "count"));
    return 0;
}

table::Results results_of(const Measured& measured, const kinds::Asked& asked) {
    table::Results results;
    put_sentences(measured, results);
    put_run(measured, asked, results);
    put_kinds(measured, asked, results);
    put_account(measured, results);
    results.say("reads", reads_text(results));
    return results;
}

}  // namespace stapgen::analyze
