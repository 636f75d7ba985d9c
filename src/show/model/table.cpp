// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace stapgen::show {

std::string key_name(const std::string& key) {
    return base::upper(base::printable(key));
}

Cell bar_cell(double part, std::optional<std::size_t> colour) {
    return {.text = percent(part), .bar = part, .colour = colour};
}

Cell part_cell(std::int64_t count, std::int64_t all) {
    return bar_cell(all > 0 ? static_cast<double>(count) / static_cast<double>(all) : 0);
}

Cell reason_cell(const rows::Stack& stack) {
    return {.text = reason_text(stack.reason)};
}

Cell reason_cell(const rows::Drop& drop) {
    Cell cell{.text = reason_text(drop.reason), .title = drop.advice};
    if (!drop.benign) return cell;
    cell.text += fmt::format(" {}", benign_mark);
    cell.mark = "benign";
    return cell;
}

bool any_benign(const std::vector<rows::Drop>& drops) {
    return std::ranges::any_of(drops, &rows::Drop::benign);
}

std::string hidden_text(std::int64_t drops, std::int64_t places) {
    if (places == 0) return {};
    return fmt::format("{} drop{} at {} benign place{} not shown", drops, drops == 1 ? "" : "s", places,
                       places == 1 ? "" : "s");
}

std::string hidden_text(const rows::Results& results) {
    const auto& hidden = results.one<rows::HiddenTotals>();
    return hidden_text(hidden.count, hidden.rows);
}

std::string key_cell(const table::Group& group, const std::string& key, bool is_first) {
    if (const auto* field = find_field(group, key)) return group_text(*field);
    return is_first && is_other(group) ? group.front().key : "";
}

std::vector<std::pair<std::string, std::string>> meanings_of(const std::vector<rows::Count>& counts) {
    std::vector<std::pair<std::string, std::string>> meanings;
    for (const auto& row : counts) {
        if (!row.meaning || row.group.empty()) continue;
        if (std::ranges::find(meanings, *row.meaning, &std::pair<std::string, std::string>::second) == meanings.end())
            meanings.emplace_back(group_text(row.group.front()), *row.meaning);
    }
    return meanings;
}

}  // namespace stapgen::show
