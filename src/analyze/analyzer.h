// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "decode/record.h"
#include "kinds/kind.h"

namespace stapgen::analyze {

using kinds::Measured;

/// Turns records into what was measured. Memory depends on the number of groups and of rows of drops, not on the number
/// of records. One thread. Never fails on what a script prints; what does not add up shows in the accounting.
class Analyzer {
  public:
    /// Fails when a field to group by is not there. `header` must outlive the Analyzer.
    static base::Result<Analyzer> create(const decode::Header& header, kinds::Settings settings = {});
    Analyzer(Analyzer&&) noexcept;
    Analyzer& operator=(Analyzer&&) noexcept;
    ~Analyzer();

    /// Any line; headers and unrecognised lines change nothing.
    void add(const decode::Line& line);
    void add(const decode::Record& record);
    /// One that nobody wants: it counts as filtered.
    void count_filtered(const decode::Record& record);

    /// Everything so far. What the caller knows of the run is left to it.
    [[nodiscard]] Measured measured() const;
    /// Its accounting alone.
    [[nodiscard]] kinds::Accounting accounting() const;

    /// The interval that the last tick or end line closed, once; nothing if none was closed since the last
    /// call or keep_intervals is off. Its accounting holds the differences over the interval.
    std::optional<Measured> take_interval();

  private:
    struct State;
    explicit Analyzer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace stapgen::analyze
