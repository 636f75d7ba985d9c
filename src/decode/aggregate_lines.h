#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "decode/cursor.h"
#include "decode/record.h"

namespace stapgen::decode {

/// Reads the lines of a script that aggregates, but for `slow`, which is a record. What they hold is kept here.
class AggregateLines {
  public:
    /// A line without its end; nothing if it is none of `bin`, `sum` and `split`.
    std::optional<Line> read(const Header& header, std::string_view line);

  private:
    Line read_bins(const Header& header, Cursor cursor);
    Line read_sum(const Header& header, Cursor cursor);
    Line read_split(const Header& header, Cursor cursor);

    std::vector<BinCount> bins_;
    std::vector<std::int64_t> sums_;
};

}  // namespace stapgen::decode
