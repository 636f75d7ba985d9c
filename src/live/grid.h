#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "live/line.h"

namespace stapgen::live {

/// A column of a table that must fit a screen, whatever its width. (A report's table, report/table.h, is as wide as it
/// is, and libsmartcols has no say in which column goes.)
struct GridColumn {
    std::string name;
    bool right = true;          ///< aligned so
    int priority = 0;           ///< where there is too little room, the one of the lowest priority goes
    std::size_t min_width = 0;  ///< may be cut to so many columns; 0: not at all
    bool chosen = false;        ///< the heading shows that it is
};

struct GridRow {
    std::vector<std::string> cells;  ///< one for each column; any bytes
    Style style = Style::plain;
};

struct Grid {
    std::vector<GridColumn> columns;
    std::vector<GridRow> rows;
};

/// The same as lines of equal width.
struct FittedGrid {
    Line heading;
    std::vector<Line> rows;
    std::size_t width = 0;
};
FittedGrid fitted(const Grid& grid, std::size_t width);

}  // namespace stapgen::live
