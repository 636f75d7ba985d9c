// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "table/series.h"
#include "table/table.h"

namespace stapgen::table {

/// What a measurement says, as all formats write it. Plain data.
struct Results {
    std::vector<Table> tables;  ///< in the order of documents
    /// Distributions over time, in blocks of a second or more; the stages and values of each block have these names.
    Series series{};
    Texts series_stages{}, series_values{};

    /// The table of that name and scope; an empty one where there is none.
    [[nodiscard]] const Table& at(std::string_view name, Scope scope) const;
    /// Likewise: of the whole, where it knows intervals.
    [[nodiscard]] const Table& at(std::string_view name) const;
    /// A cell of a table that has one row; nothing where there is none.
    [[nodiscard]] const Value& fact(std::string_view table, std::string_view column) const;
};

}  // namespace stapgen::table
