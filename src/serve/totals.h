// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rows/results.h"

namespace stapgen::serve {

/// The limit of series. The first ones stay for good.
class SeriesLimit {
  public:
    explicit SeriesLimit(std::size_t most) : most_(most) {}

    /// Whether there is room for one more, which is taken then.
    bool admit();
    [[nodiscard]] std::size_t most() const { return most_; }
    [[nodiscard]] std::size_t taken() const { return taken_; }

  private:
    const std::size_t most_;
    std::atomic<std::size_t> taken_ = 0;
};

/// The sums of a recipe since serve began, in any number of runs. Nothing that is a counter ever falls, and
/// memory is bounded by the limit.
class Totals {
  public:
    Totals(const std::string& recipe, SeriesLimit& limit);

    /// Adds the results of an interval. Its drops have names and no addresses.
    void add(const rows::Results& interval);

    /// Sets the facts of the run that goes on, from its start to now: its account, counters, input and origin.
    void set_run(const rows::Results& run);
    /// It has ended.
    void end_run();

    /// All of it as one measurement that goes on.
    [[nodiscard]] rows::Results results() const;
    /// The sum of all counts for which there was no room.
    [[nodiscard]] std::int64_t kept_out() const { return kept_out_; }

  private:
    /// What a run says of all of it. All are counters but what is under way.
    using Accounts = table::TablesOf<rows::Accounting, rows::Counter, rows::Input>;

    template <class Row>
    void add(table::TableOf<Row> more);

    SeriesLimit& limit_;
    std::int64_t kept_out_ = 0;
    rows::Results measured_;
    Accounts ended_;  ///< of the runs that have ended
    Accounts now_;    ///< and of the one that goes on
    Accounts risen_;  ///< the same; what would fall stays
};

}  // namespace stapgen::serve
