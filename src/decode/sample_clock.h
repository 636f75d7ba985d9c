// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace stapgen::decode {

/// The times of day of a table of samples, as sar prints them: each row has the end of its sample, and a heading the
/// end of the sample before it. A length is known only if nothing speaks against the rows being all that were printed:
/// grep leaves some out, clocks are set.
class SampleClock {
  public:
    /// A heading of that time, in seconds since midnight.
    void begin(std::int64_t second_of_day);
    /// Takes the time of a row. Returns the seconds of its sample; nothing: they are not known.
    std::optional<std::int64_t> length(std::int64_t second_of_day);
    /// The last time, in seconds since the midnight before the first one; 0: there is none.
    [[nodiscard]] std::int64_t now() const { return now_.value_or(0); }

  private:
    void advance(std::int64_t second_of_day);

    std::optional<std::int64_t> now_;
    std::optional<std::int64_t> length_, shown_;  ///< of the last sample; shown: by its time and the one before
    std::int64_t longest_known_ = 0;
    bool is_below_heading_ = false;
};

}  // namespace stapgen::decode
