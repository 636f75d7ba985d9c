// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "show/model/table.h"
#include "table/histogram.h"

namespace stapgen::live {

struct Size {
    std::size_t rows = 0, columns = 0;
};

/// What a piece of text is; the terminal decides how it looks.
enum class Style {
    plain,
    head,     ///< the bar at the top
    heading,  ///< of a table
    chosen,   ///< the heading by which is sorted, the stage that the groups are of
    faint,    ///< what is always the same
    bar,      ///< a distribution
    alert,    ///< something was lost, or is not as usual
};

struct Span {
    std::string text;
    Style style = Style::plain;
};

/// One row of the screen. UTF-8 in which every character takes one column; no control characters.
using Line = std::vector<Span>;

/// Columns that it takes.
std::size_t width_of(std::string_view text);
std::size_t width_of(const Line& line);

/// The first columns; where something is cut off the last one is "~".
std::string cut(std::string_view text, std::size_t columns);
Line cut(const Line& line, std::size_t columns);

/// As wide as that, with blanks; nothing is cut.
std::string padded(std::string_view text, std::size_t columns, bool right = false);

/// Text of the system that is measured, fit for a line: control characters and all beyond ASCII are \xNN.
std::string plain_text(std::string_view text);

/// A table as lines of equal width.
struct FittedTable {
    Line heading;
    std::vector<Line> rows;
    std::size_t width = 0;
};
/// Texts are cut, then columns leave: those of pages, those that say when they do, then the last one. The heading shows
/// that column `chosen` is. Cells may hold any bytes; counts get commas.
FittedTable fitted(const show::Table& table, std::size_t width, std::optional<std::size_t> chosen = {});

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
std::string distribution(const table::Histogram& stats, const Scale& scale, bool utf8);

}  // namespace stapgen::live
