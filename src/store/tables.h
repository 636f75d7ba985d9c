// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

/// What a store is made of: docs/guide/store.md. Each table is a folder of Parquet files, and has two columns more,
/// which are names of folders: `recipe`, and `day`, on which the run began; 1970-01-01: not known.
namespace stapgen::store {

struct Table {
    std::string_view name, columns;
};

/// Those whose rows are others than a report's: bins, and what questions add up.
inline constexpr auto own_tables = std::to_array<Table>({
    {"hist", "run VARCHAR, stage VARCHAR, unit VARCHAR, t TIMESTAMPTZ, bin_low BIGINT, bin_high BIGINT, n UBIGINT"},
    {"sums", "run VARCHAR, stage VARCHAR, unit VARCHAR, t TIMESTAMPTZ, n UBIGINT, sum BIGINT, min BIGINT, max BIGINT"},
    {"account", "run VARCHAR, kind VARCHAR, name VARCHAR, n BIGINT"},
    {"drops",
     "run VARCHAR, t TIMESTAMPTZ, symbol VARCHAR, symbol_offset UBIGINT, module VARCHAR, address UBIGINT, "
     "reason VARCHAR, reason_number BIGINT, benign BOOLEAN, n BIGINT"},
    {"counts", "run VARCHAR, t TIMESTAMPTZ, counted VARCHAR, what VARCHAR, loss BOOLEAN, n BIGINT"},
    {"slow",
     "run VARCHAR, direction VARCHAR, place BIGINT, t TIMESTAMPTZ, total_ns BIGINT, stage VARCHAR, ns BIGINT, "
     "what VARCHAR"},
    {"labels", "run VARCHAR, name VARCHAR, value VARCHAR"},
    {"runs",
     "run VARCHAR, host VARCHAR, machine VARCHAR, kernel VARCHAR, build_id VARCHAR, definition VARCHAR, "
     "filters VARCHAR, command VARCHAR, started TIMESTAMPTZ, ended TIMESTAMPTZ, sample BIGINT, resolution_ns BIGINT, "
     "whole BOOLEAN"},
});

/// The last one: a run that is in it is there with all it has.
inline constexpr const auto& runs_table = own_tables.back();

/// Besides, where they are asked for: columns as the records of the recipe have them.
inline constexpr Table events_table{"events", "run VARCHAR, event VARCHAR"};

/// A table of a report's rows (rows::Results), with its columns: stages, ledger, causes, ...
struct RowsTable {
    std::string name, columns;
};
const std::vector<RowsTable>& tables_of_rows();

}  // namespace stapgen::store
