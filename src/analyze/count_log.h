#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/groups.h"
#include "analyze/interval_items.h"
#include "analyze/interval_log.h"
#include "analyze/summary.h"
#include "analyze/text_hash.h"
#include "decode/record.h"

namespace stapgen::analyze {

/// Counts by interval and group, in bounded memory; the numbers are in an IntervalLog.
class CountLog {
  public:
    /// So many groups are told apart; further ones are the group "other".
    static constexpr std::size_t max_groups = 16384;

    explicit CountLog(IntervalLog& log) : log_(log), kinds_(log) {}
    CountLog(const CountLog&) = delete;
    CountLog& operator=(const CountLog&) = delete;

    /// Into the open interval.
    void add(const decode::Record& record, const std::vector<GroupKey>& keys, std::int64_t count);

    /// Of the open interval, the largest count first; `interval` counts on from those that were closed.
    [[nodiscard]] std::vector<Tally> open_rows() const;
    /// Of the intervals that were closed, in their order, of each the largest count first.
    [[nodiscard]] std::vector<Tally> rows() const;

  private:
    IntervalLog& log_;
    IntervalItems<Tally> kinds_;
    std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>> texts_;  ///< of kinds_, by text
    std::optional<std::size_t> other_;
    std::string key_;  ///< kept for its memory
};

}  // namespace stapgen::analyze
