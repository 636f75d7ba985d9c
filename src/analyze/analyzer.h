// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"
#include "decode/record.h"

namespace stapgen::analyze {

struct AnalyzerOptions {
    /// Names of fields of the header's own records, or "port" where they have an endpoint `local`; empty: the whole
    /// only.
    std::vector<std::string> group_by;
    std::size_t max_groups = 512;    ///< limit of distinct ones; the rest is the group "other"
    std::size_t slowest = 10;        ///< number of records kept per direction
    std::int64_t resolution_ns = 1;  ///< stages are multiples of it
    bool keep_intervals = false;     ///< whether take_interval() is wanted
    bool keep_series = true;         ///< whether Summary::series is, which takes megabytes
};

/// Turns records into a Summary. Memory depends on the number of groups and of drop rows, not on the number
/// of records. One thread. Never fails on what a script prints; what does not add up shows in the accounting.
class Analyzer {
  public:
    /// Fails when a field to group by is not there. `header` must outlive the Analyzer.
    static base::Result<Analyzer> create(const decode::Header& header, AnalyzerOptions options = {});
    Analyzer(Analyzer&&) noexcept;
    Analyzer& operator=(Analyzer&&) noexcept;
    ~Analyzer();

    /// Any line; headers and unrecognised lines change nothing.
    void add(const decode::Line& line);
    void add(const decode::Record& record);
    /// One that nobody wants: it counts as filtered.
    void count_filtered(const decode::Record& record);

    /// Everything so far. `input` and `transport` are left to the caller.
    [[nodiscard]] Summary summary() const;
    /// Its accounting alone.
    [[nodiscard]] Accounting accounting() const;

    /// The interval that the last tick or end line closed, once; nothing if none was closed since the last
    /// call or keep_intervals is off. Its accounting holds the differences over the interval.
    std::optional<Summary> take_interval();

  private:
    struct State;
    explicit Analyzer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace stapgen::analyze
