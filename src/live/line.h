#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace stapgen::live
