// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "kinds/who/who.h"
#include "table/texts.h"

namespace stapgen::kinds::who {

namespace {

using table::count_of, table::held;
using table::Meet, table::Type;

std::string text_of(const table::Group& group, std::string_view key) {
    const auto* field = table::find_field(group, key);
    return field == nullptr ? std::string() : table::group_text(*field);
}

/// The functions in which it slept; those that led there are on the page.
std::string innermost(table::Path path) {
    constexpr std::size_t most = 4;
    if (path.size() <= most) return table::path_text(path);
    path.resize(most);
    return table::path_text(path) + " < ...";
}

/// As people call it: "nginx[123]", "run-queue", "backup[4711]".
std::tuple<std::string, std::string, std::string> names_of(const table::Group& group, const table::Path* path) {
    if (table::is_other(group)) return {"other", "", ""};
    auto by = text_of(group, "by") + text_of(group, "cgroup");
    if (path != nullptr) by = innermost(*path);
    return {fmt::format("{}[{}]", text_of(group, "comm"), text_of(group, "tid")), text_of(group, "waited"),
            std::move(by)};
}

/// In sum, by what was waited for.
std::string title_of(const table::Table& rows) {
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> sums;
    for (const auto& row : rows.rows) {
        const auto& group = *held<table::Group>(rows.at(row, "group"));
        auto& [sum, with_packet] = sums[table::is_other(group) ? "other" : text_of(group, "waited")];
        base::add_saturating(sum, count_of(rows.at(row, "sum_ns")));
        base::add_saturating(with_packet, count_of(rows.at(row, "with_packet_ns")));
    }
    std::string title = "What threads that read packets waited for, and how much of it while a packet lay ready: ";
    for (bool is_first = true; const auto& [waited, times] : sums)
        title += fmt::format("{}{} {} ({})", std::exchange(is_first, false) ? "" : ", ", waited,
                             table::duration_text(times.first), table::duration_text(times.second));
    return title;
}

}  // namespace

void put_results(const Measured& measured, const Asked& /*asked*/, table::Results& results) {
    // Of a call path its functions.
    table::Tables tables{measured.or_empty(who_table())};
    table::change_each<table::Path>(tables,
                                    [](table::Path& path) { std::ranges::for_each(path, table::keep_name_only); });
    auto rows = std::move(tables.front());
    fold(rows);
    std::ranges::stable_sort(rows.rows, std::greater(), [&](const table::Row& row) {
        return std::pair(count_of(rows.at(row, "with_packet_ns")), count_of(rows.at(row, "sum_ns")));
    });
    if (!rows.rows.empty()) results.say("who", title_of(rows));
    int place = 0;
    for (const auto* name : {"waiter", "waited", "by"}) {
        ++place;
        rows.columns.push_back({name,
                                Type::text,
                                Meet::first,
                                false,
                                table::In::people,
                                {.place = place, .heading = base::upper(name), .is_head = place == 1}});
    }
    for (auto& row : rows.rows) {
        auto [waiter, waited, by] =
            names_of(*held<table::Group>(rows.at(row, "group")), held<table::Path>(rows.at(row, "frames")));
        for (auto* text : {&waiter, &waited, &by})
            row.emplace_back(std::move(*text));
    }
    results.tables.push_back(std::move(rows));
}

}  // namespace stapgen::kinds::who
