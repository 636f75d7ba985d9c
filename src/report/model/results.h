// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <span>

#include "analyze/summary.h"
#include "report/model/format.h"
#include "report/model/report.h"
#include "table/results.h"

namespace stapgen::report {

/// What a summary says, with what is worked out of it: shares, the tail, advice, totals.
table::Results results_of(const analyze::Summary& summary, const Options& options);

/// In front of a table of intervals: when each ended and its number, of what the rows were made from. `number`: of all.
void put_intervals(table::Table& table, const auto& made_from, std::optional<std::int64_t> number) {
    using table::Meet, table::Type;
    if (table.scope != table::Scope::intervals) return;
    table.columns.insert(
        table.columns.begin(),
        {{"time", Type::time, Meet::largest, false, table::In::all, {.place = 1, .heading = "ENDED", .is_head = true}},
         {"interval", Type::count, Meet::key}});
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        table.rows[i].insert(table.rows[i].begin(),
                             {table::value_of(made_from[i].end_epoch_ns), number.value_or(made_from[i].interval)});
    }
}

/// Where measurements were made.
table::Table origins_table(const std::vector<analyze::Origin>& origins);

/// Tables of it that are also laid out for people.
table::Table counters_table(const analyze::Summary& summary);
table::Table drops_table(const Report& report, std::span<const analyze::Drop> drops, table::Scope scope);
table::Table counts_table(const Report& report, std::span<const analyze::Tally> tallies, table::Scope scope);
table::Table advice_table(std::span<const GivenAdvice> all);
table::Table stacks_table(const Report& report, std::span<const analyze::Stack> stacks, table::Scope scope);

/// Parts of it, in their order.
void add_run_tables(const Report& report, table::Results& results);
void add_latency_tables(const Report& report, table::Results& results);
void add_drop_tables(const Report& report, table::Results& results);
void add_count_tables(const Report& report, table::Results& results);
void add_account_tables(const Report& report, table::Results& results);

}  // namespace stapgen::report
