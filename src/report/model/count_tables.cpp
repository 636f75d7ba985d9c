// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.h"
#include "report/model/results.h"

namespace stapgen::report {

namespace {

using table::Meet;
using table::Scope;
using table::Shape;
using table::Type;
using table::Value;

table::Table calls_table(const analyze::Summary& summary) {
    table::Table table{.name = "calls",
                       .columns = {{"packet", Type::count, Meet::never},
                                   {"begin_ns", Type::duration, Meet::never},
                                   {"duration_ns", Type::duration, Meet::never},
                                   {"depth", Type::count, Meet::never},
                                   {"function", Type::text, Meet::never},
                                   {"args", Type::text, Meet::never},
                                   {"context", Type::text, Meet::never},
                                   {"cpu", Type::count, Meet::never},
                                   {"tid", Type::count, Meet::never},
                                   {"comm", Type::text, Meet::never}},
                       .is_rare = true};
    for (const auto& call : summary.calls) {
        table.rows.push_back({call.packet, call.begin_ns, call.duration_ns, call.depth, call.function, call.args,
                              call.in_thread ? "thread" : "softirq", call.cpu, call.tid, call.comm});
    }
    return table;
}

table::Table one_fact(std::string name, Type type, Value value, bool is_rare = false) {
    return {.name = name,
            .columns = {{name, type, Meet::same, is_rare}},
            .rows = {{std::move(value)}},
            .shape = Shape::fields};
}

}  // namespace

table::Table counts_table(const Report& report, std::span<const analyze::Tally> tallies, Scope scope) {
    using table::ForPeople;
    const ForPeople count{2, base::upper(base::printable(report.summary.counted))};
    const ForPeople rate{.place = 3, .heading = "PER S", .if_any = true};
    const ForPeople lost{.place = 5, .heading = "LOSS", .word = "lost", .if_any = true, .is_alarm = true};
    const ForPeople by_name{.place = 5, .heading = "LOSS", .word = "by name", .if_any = true};
    const int last = scope == Scope::whole ? 6 : 0;
    const ForPeople what{.place = last, .heading = "WHAT", .if_any = true, .on_page_only = true};
    table::Table table{.name = "counts",
                       .row_name = "count",
                       .columns = {{"counted", Type::text, Meet::key, false, table::In::rows},
                                   {"group", Type::group, Meet::key, false, table::In::all, {4}},
                                   {"count", Type::count, Meet::add, false, table::In::all, count},
                                   {"meaning", Type::text, Meet::first, false, table::In::documents, what},
                                   {"loss", Type::flag, Meet::first, false, table::In::documents, lost},
                                   {"loss_by_name", Type::flag, Meet::first, true, table::In::documents, by_name},
                                   {"per_s", Type::number, Meet::same, true, table::In::documents, rate}},
                       .scope = scope};
    for (const auto& tally : tallies) {
        table.rows.push_back({report.summary.counted, tally.group, tally.count,
                              tally.meaning.empty() ? Value() : Value(tally.meaning), tally.loss,
                              tally.loss_by_name ? Value(true) : Value(), table::value_of(tally.per_s)});
    }
    put_intervals(table, tallies, report.options.interval);
    return table;
}

void add_count_tables(const Report& report, table::Results& results) {
    const auto& summary = report.summary;
    auto& tables = results.tables;
    tables.push_back(one_fact("counted", Type::text, summary.counted.empty() ? Value() : Value(summary.counted)));
    tables.push_back(counts_table(report, summary.tallies, Scope::intervals));
    tables.push_back(counts_table(report, report.counts, Scope::whole));
    tables.push_back(one_fact("counters_read", Type::count,
                              summary.counters_read > 0 ? Value(summary.counters_read) : Value(), true));
    tables.push_back(calls_table(summary));
    tables.push_back(
        one_fact("calls_left_out", Type::count, summary.calls.empty() ? Value() : Value(summary.calls_left_out), true));
}

}  // namespace stapgen::report
