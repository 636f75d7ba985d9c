#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyze/histogram.h"

namespace stapgen::live {

/// A logarithmic scale from one power of ten to another, `columns` wide.
class Scale {
  public:
    /// From the power of ten below `least` to that above `most`; 1 where there is none below.
    Scale(std::int64_t least, std::int64_t most, std::size_t columns);

    [[nodiscard]] std::size_t columns() const { return lowest_.size(); }
    /// The lowest number of a column; that of the first one is for smaller ones, too.
    [[nodiscard]] std::int64_t lowest(std::size_t column) const { return lowest_[column]; }
    /// Powers of ten where they are, as many as there is room for: "1us    10us   100us". `is_time`: they are ns.
    [[nodiscard]] std::string labels(bool is_time) const;

  private:
    int first_ = 0, last_ = 0;          ///< the powers at its ends
    std::vector<std::int64_t> lowest_;  ///< of each column
};

/// How values are distributed on a scale: a column's height is its part of the highest one; a single value is still
/// seen. Eighths of a block, or in ASCII one of .:-=+*#@.
std::string distribution(const analyze::Histogram& stats, const Scale& scale, bool utf8);

}  // namespace stapgen::live
