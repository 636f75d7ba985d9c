#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stapgen::report {

enum class Align { left, right };

struct Column {
    std::string name;
    Align align = Align::right;
};

/// Bytes above ASCII as \xNN, the rest as it is.
std::string ascii(std::string_view text);

/// A table as text, each line with its end, no blanks at line ends. Columns are as wide as what is in them;
/// nothing is cut, whatever the terminal. Every row has as many cells as there are columns; cells hold no
/// control characters; other bytes than ASCII are written as \xNN. The wrapper of libsmartcols, which nothing else
/// includes.
std::string table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows);

}  // namespace stapgen::report
