// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recipe/catalog.h"
#include "store/duckdb.h"

/// Questions to a store.
namespace stapgen::store {

/// The shipped ones, each a file: share/stapgen/sql/NAME.sql, which other engines run, too.
inline const std::vector<std::string> question_names{"compare-labels", "drops-over-time", "p99-by-host", "worst-hosts"};
/// The SQL of one of them.
base::Result<std::string> question(const recipe::ProgramFiles& files, const std::string& name);

/// The answer to a SELECT over the tables of the store. It can read the store and nothing else, and write nothing.
/// Errors: there is no store; those of Database.
base::Result<Answer> query(const std::filesystem::path& store, const std::string& sql,
                           const recipe::ProgramFiles& files);

/// As "table", "json", "ndjson" or "csv".
void write_answer(std::ostream& out, const Answer& answer, std::string_view format);

}  // namespace stapgen::store
