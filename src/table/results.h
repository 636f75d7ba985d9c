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
    /// Distributions over time; the stages and values of each block have these names. Documents state
    /// Series::by_second().
    Shared<Series> series{Series()};
    Texts series_stages{}, series_values{};

    /// The table of that name and scope; an empty one where there is none.
    [[nodiscard]] const Table& at(std::string_view name, Scope scope) const;
    /// Likewise: of the whole, where it knows intervals.
    [[nodiscard]] const Table& at(std::string_view name) const;
    /// A cell of a table that has one row; nothing where there is none.
    [[nodiscard]] const Value& fact(std::string_view table, std::string_view column) const;

    /// Adds to the table "sentences", which people read and no document has, unless the text is empty.
    void say(std::string_view about, std::string text);
    /// All that it says about one subject: "span" (when it began, and for how long), "host" (one for each),
    /// "definition", "origin" (lines), "account" (lines), "warning" (one for each kind), "not_understood" (lines),
    /// "drops" (where drops are counted), "stacks" (where there are any), "counts" (where something is counted),
    /// "calls_left_out", "who" (where threads waited). Control characters are made visible.
    [[nodiscard]] Texts sentences(std::string_view about) const;
    /// The only one; empty where there is none.
    [[nodiscard]] std::string sentence(std::string_view about) const;
};

}  // namespace stapgen::table
