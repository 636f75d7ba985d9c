// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/terminal.h"
#include "rows/results.h"
#include "show/model/format.h"
#include "show/model/texts.h"

/// The tables of a report as plain data. Texts may be as they came from the input: who writes them escapes them.
namespace stapgen::show {

/// A change with its confidence interval on a scale from 0 to 1.
struct Range {
    double low = 0, high = 0, at = 0, zero = 0.5;
};

/// What is behind the text is for pages.
struct Cell {
    std::string text{};
    std::string title{};                  ///< shown on hover
    std::optional<double> bar{};          ///< 0 to 1
    std::optional<std::size_t> colour{};  ///< of the stage that it names or that its bar belongs to
    std::optional<Range> range{};
    std::string mark{};                ///< "slower", "faster", "benign", "first" or "repeated"
    bool is_absent = false;            ///< nothing on a page, "-" in text
    base::Ink ink = base::Ink::plain;  ///< in text
};

enum class Kind { head, text, number };
/// The live view has those of pages where there is room.
enum class In { all, text, page };

/// Columns that text has only if the table still fits, the most wanted first; intervals only where there is more room
/// than a page has. The cells of `trend` are Trend::text().
enum class Extra { trend, stddev, min, sum, intervals };

struct Column {
    std::string name;
    Kind kind = Kind::number;
    In in = In::all;
    std::optional<Extra> extra{};
    std::string_view unit{};  ///< said by text only, "STAGE [us]": a page says it in the caption
    int leaves = 0;           ///< the order in which columns leave text that is too wide, from 1; 0: it stays
};

struct Table {
    std::string caption;
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows{};
    std::string below{};  ///< on a page: what is left out, or what a sign means
    bool folded = false;  ///< on a page: shown when its caption is clicked
};

/// A part of something, 0 to 1, with its bar.
Cell bar_cell(double part, std::optional<std::size_t> colour = {});
Cell part_cell(std::int64_t count, std::int64_t all);

/// What benign rows are marked with in tables, and what the mark means.
inline constexpr std::string_view benign_mark = "*";
inline constexpr std::string_view benign_legend = "*: part of normal operation, no packet is lost by it";

/// The reason of a drop or a path, with the mark of what is benign, and what is known of it as title.
Cell reason_cell(const rows::Drop& drop);
Cell reason_cell(const rows::Stack& stack);
bool any_benign(const std::vector<rows::Drop>& drops);
/// "51 drops at 2 benign places not shown"; empty where there are none.
std::string hidden_text(std::int64_t drops, std::int64_t places);
/// The same of all intervals together.
std::string hidden_text(const rows::Results& results);

/// The names of the keys in rows' groups, in the order in which they come up; "other" is none.
std::vector<std::string> keys_of(const auto& rows, auto group) {
    std::vector<std::string> keys;
    for (const auto& row : rows) {
        for (const table::GroupField& field : std::invoke(group, row)) {
            const bool is_other = std::holds_alternative<bool>(field.value);
            if (!is_other && std::ranges::find(keys, field.key) == keys.end()) keys.push_back(field.key);
        }
    }
    return keys;
}
/// The heading of its column.
std::string key_name(const std::string& key);
/// The value of that key; "other" or "rest" in the first column of such a group, else "".
std::string key_cell(const table::Group& group, const std::string& key, bool is_first);
/// The first key's text and what it means, once each, in the order of the rows; what has no meaning is left out. Where
/// several mean the same, that stands with the first one.
std::vector<std::pair<std::string, std::string>> meanings_of(const std::vector<rows::Count>& counts);

}  // namespace stapgen::show
