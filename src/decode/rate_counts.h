// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "decode/counter_reader.h"
#include "decode/record.h"

namespace stapgen::decode {

/// Makes counts of rates per second, where the time that they are of is known, and says what of them is no count.
class RateCounts {
  public:
    /// Puts counts into the place of the rates of a row, or leaves it unknown or without values. `source` is the number
    /// of the row's source, `date` what the text says of the day; `now` the time that CounterBlock::clock has. False:
    /// there are too many devices and days.
    bool count(std::size_t source, std::string_view date, std::int64_t now, CounterLine& row);
    void put_notes(std::vector<Note>& notes) const;

  private:
    /// Limit of devices and days.
    static constexpr std::size_t max_covered = 65536;

    /// The time of samples that were counted.
    struct Covered {
        std::int64_t begin = 0, end = 0;
    };
    [[nodiscard]] bool is_counted(const std::string& table, std::int64_t begin, std::int64_t end) const;

    std::map<std::string, Covered> covered_;  ///< by table, device and day
    std::int64_t rows_ = 0, averages_ = 0, unknown_ = 0, known_before_ = 0;
    std::string example_;  ///< of a rate that is not counted
};

}  // namespace stapgen::decode
