// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/summary.h"
#include "decode/record_parser.h"
#include "recording/facts.h"

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

/// What a recipe has measured since serve began, in any number of runs. Nothing that is a counter ever falls, and
/// memory is bounded by the limit.
class Totals {
  public:
    Totals(std::string recipe, SeriesLimit& limit) : recipe_(std::move(recipe)), limit_(limit) {}

    /// What was measured in an interval. Its drops have names and no addresses.
    void add(const analyze::Summary& interval);

    /// What is known of the run that goes on, from its start to now.
    struct Run {
        analyze::Accounting accounting{};
        std::vector<recording::Counter> counters{};
        decode::InputCounts input{};
        recording::Origin origin{};
    };
    void set_run(Run run);
    /// It has ended.
    void end_run(const recording::Transport& transport);

    /// All of it as one measurement that goes on.
    [[nodiscard]] analyze::Summary summary() const;
    /// The sum of all counts for which there was no room.
    [[nodiscard]] std::int64_t kept_out() const { return kept_out_; }

  private:
    void add(const std::vector<analyze::Measure>& measures, std::vector<analyze::Measure>& into);
    void keep_out(std::int64_t count);

    using DropKey = std::tuple<std::string, std::string, std::string>;  ///< module, function, reason

    const std::string recipe_;
    SeriesLimit& limit_;
    std::vector<analyze::Measure> stages_, values_;
    std::map<DropKey, analyze::Drop> drops_;
    std::map<analyze::Group, analyze::Tally> tallies_;
    std::string counted_;
    bool counts_drops_ = false;
    std::int64_t kept_out_ = 0;
    Run run_, earlier_;
    analyze::Accounting account_;  ///< of all runs; what would fall stays
    recording::Transport transport_;
};

}  // namespace stapgen::serve
