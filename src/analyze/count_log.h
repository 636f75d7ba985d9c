#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/groups.h"
#include "analyze/interval_items.h"
#include "analyze/summary.h"
#include "decode/record.h"

namespace stapgen::analyze {

/// Counts by interval and group, in bounded memory; further groups are "other". The numbers are in an IntervalLog.
class CountLog {
  public:
    explicit CountLog(IntervalLog& log) : log_(log) {}
    CountLog(const CountLog&) = delete;
    CountLog& operator=(const CountLog&) = delete;

    /// Into the open interval.
    void add(const decode::Record& record, const std::vector<GroupKey>& keys, std::int64_t count);

    [[nodiscard]] const IntervalItems<Tally>& items() const { return items_; }

  private:
    static Tally tally_of(Group group);

    IntervalLog& log_;
    IntervalItems<Tally> items_{log_, tally_of({{"other", true}})};
    std::string key_;  ///< kept for its memory
};

}  // namespace stapgen::analyze
