// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "show/model/table.h"

namespace stapgen::show {

/// What people see of rows: the columns that have a place for them (table::Shown), a group with a column for each key,
/// cells written as their types say. A reason beside a place has the mark and the advice of the two. With `whole` a
/// page says what part of that each count is. Rows of intervals are folded on a page.
template <class Row>
Table laid_out(const std::vector<Row>& rows, std::string caption = {}, std::optional<std::int64_t> whole = {});

}  // namespace stapgen::show
