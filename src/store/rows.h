// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "rows/results.h"
#include "show/model/format.h"
#include "store/duckdb.h"

/// A run as rows of tables.
namespace stapgen::store {

/// A table of the database that has rows of one run.
struct Filled {
    std::string table;   ///< in the database
    std::string name;    ///< in the store
    std::string suffix;  ///< of its file, where a run has several of that name
};

/// Makes the tables of tables.h anew, with the rows of this run alone. Returns those that have any.
base::Result<std::vector<Filled>> put_run(Database& database, const std::string& run, const std::string& host,
                                          const rows::Results& results);

/// The records of one run, a table for each kind of them.
class Events {
  public:
    Events(Database& database, std::string run) : database_(database), run_(std::move(run)) {}

    /// Of the run. Must not outlive this.
    std::unique_ptr<show::RecordWriter> writer();
    /// Once all records have come.
    base::Result<std::vector<Filled>> close();

  private:
    friend class EventRows;
    struct Kind {
        const decode::Schema* schema;
        std::string table;
        Database::Appender rows;
    };
    Kind* kind_of(const decode::Schema& schema);

    Database& database_;
    std::string run_;
    std::deque<Kind> kinds_;
    std::optional<base::Error> error_;
};

}  // namespace stapgen::store
