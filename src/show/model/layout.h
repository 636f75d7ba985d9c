// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "show/model/table.h"
#include "table/table.h"

namespace stapgen::show {

/// What people see of a table: the columns that have a place for them (table::ForPeople), a group with a column for
/// each key, cells written as their column's Type says. A reason beside a place has the mark and the advice of the two.
/// With `whole` a page says what part of that each count is. Rows of intervals are folded on a page.
Table laid_out(table::Table table, std::string caption = {}, std::optional<std::int64_t> whole = {});

}  // namespace stapgen::show
