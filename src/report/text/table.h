#pragma once

#include <set>
#include <string>
#include <string_view>

#include "report/model/table.h"

namespace stapgen::report {

/// Bytes above ASCII as \xNN, the rest as it is.
std::string ascii(std::string_view text);

/// A table as text, each line with its end, no blanks at line ends; of its extra columns these. Columns are as wide as
/// what is in them; nothing is cut, whatever the terminal. Control characters and other bytes than ASCII are written as
/// \xNN. The wrapper of libsmartcols, which nothing else includes.
std::string text_of(const Table& table, const std::set<Extra>& extras = {});

}  // namespace stapgen::report
