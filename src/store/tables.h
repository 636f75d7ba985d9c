// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What a store is made of: docs/guide/store.md. Each table is a folder of Parquet files, and has two columns more,
/// which are names of folders: `recipe`, and `day`, on which the run began; 1970-01-01: not known.
namespace stapgen::store {

struct Table {
    std::string name, columns;
    bool differs = false;  ///< other recipes or other versions of stapgen have other columns
};

/// Those of a report's rows (rows::Results: stages, ledger, causes, ...), then those of bins and of what questions add
/// up. `runs` is the last one: a run that is in it is there with all it has.
const std::vector<Table>& tables();
inline constexpr std::string_view runs_table = "runs";

/// Besides, where they are asked for: columns as the records of the recipe have them.
inline const Table events_table{"events", "run VARCHAR, event VARCHAR", true};

}  // namespace stapgen::store
