// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>

#include "metrics/family.h"
#include "rows/results.h"

namespace stapgen::show {

/// What results say, as families of metrics: histograms of stages in seconds, counters of drops, the account and all
/// that was lost. Those of one recipe add up; one whose definition differs has it as a label. Counts below zero, which
/// an interval's account may have, are 0.
class ResultMetrics {
  public:
    /// A measurement that goes on is cut in the middle of what is under way: what is incomplete now may be complete
    /// later, so that it is no counter.
    explicit ResultMetrics(bool goes_on = false);

    /// Of groups the largest, and the sum of the others.
    void add(const rows::Results& results, std::size_t groups = 0);

    /// In the order in which they are written.
    [[nodiscard]] const metrics::Families& families() const { return families_; }

  private:
    bool goes_on_;
    metrics::Families families_;
};

}  // namespace stapgen::show
