// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "show/model/layout.h"

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

Cell reason_cell(const table::Table& table, const table::Row& row) {
    Cell cell{.text = reason_text(*table::held<table::Reason>(table.at(row, "reason"))),
              .title = table::text_of(table.at(row, "advice"))};
    if (table.at(row, "benign") != table::Value(true)) return cell;
    cell.text += fmt::format(" {}", benign_mark);
    cell.mark = "benign";
    return cell;
}

bool any_benign(const table::Table& drops) {
    return std::ranges::any_of(drops.rows,
                               [&](const table::Row& row) { return drops.at(row, "benign") == table::Value(true); });
}

std::string hidden_text(std::int64_t drops, std::int64_t places) {
    if (places == 0) return {};
    return fmt::format("{} drop{} at {} benign place{} not shown", drops, drops == 1 ? "" : "s", places,
                       places == 1 ? "" : "s");
}

std::string hidden_text(const table::Results& results) {
    return hidden_text(table::count_of(results.fact("benign_not_shown", "count")),
                       table::count_of(results.fact("benign_not_shown", "rows")));
}

std::string key_cell(const table::Group& group, const std::string& key, bool is_first) {
    if (const auto* field = find_field(group, key)) return group_text(*field);
    return is_first && is_other(group) ? group.front().key : "";
}

Table losses_table(const table::Results& results) {
    auto counters = results.at("counters");
    std::erase_if(counters.rows, [&](const auto& row) { return table::count_of(counters.at(row, "count")) <= 0; });
    return laid_out(counters, "Losses without a drop event, by the kernel's counters of this network namespace");
}

std::vector<std::pair<std::string, std::string>> meanings_of(const table::Table& counts) {
    std::vector<std::pair<std::string, std::string>> meanings;
    for (const auto& row : counts.rows) {
        auto meaning = table::text_of(counts.at(row, "meaning"));
        const auto& group = *table::held<table::Group>(counts.at(row, "group"));
        if (meaning.empty() || group.empty()) continue;
        if (std::ranges::find(meanings, meaning, &std::pair<std::string, std::string>::second) == meanings.end())
            meanings.emplace_back(group_text(group.front()), std::move(meaning));
    }
    return meanings;
}

}  // namespace stapgen::show
