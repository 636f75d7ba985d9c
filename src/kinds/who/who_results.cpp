// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/saturate.h"
#include "kinds/who/who.h"
#include "table/merge.h"
#include "table/texts.h"

namespace stapgen::kinds::who {

namespace {

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
void put_names(rows::Who& row) {
    if (table::is_other(row.group)) {
        row.waiter = "other";
        return;
    }
    row.waiter = fmt::format("{}[{}]", text_of(row.group, "comm"), text_of(row.group, "tid"));
    row.waited = text_of(row.group, "waited");
    row.by = row.frames ? innermost(**row.frames) : text_of(row.group, "by") + text_of(row.group, "cgroup");
}

/// In sum, by what was waited for.
std::string title_of(const std::vector<rows::Who>& rows) {
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> sums;
    for (const auto& row : rows) {
        auto& [sum, with_packet] = sums[table::is_other(row.group) ? "other" : text_of(row.group, "waited")];
        base::add_saturating(sum, row.sum_ns);
        base::add_saturating(with_packet, row.with_packet_ns);
    }
    std::string title = "What threads that read packets waited for, and how much of it while a packet lay ready: ";
    for (bool is_first = true; const auto& [waited, times] : sums)
        title += fmt::format("{}{} {} ({})", std::exchange(is_first, false) ? "" : ", ", waited,
                             table::duration_text(times.first), table::duration_text(times.second));
    return title;
}

}  // namespace

void put_results(const Measured& measured, const Asked& /*asked*/, rows::Results& results) {
    auto rows = measured.of<rows::Who>();
    // The functions of a call path.
    for (auto& row : rows)
        if (row.frames) std::ranges::for_each(row.frames->own(), table::keep_name_only);
    table::fold(rows);
    std::ranges::stable_sort(rows, std::greater(),
                             [](const rows::Who& row) { return std::pair(row.with_packet_ns, row.sum_ns); });
    if (!rows.empty()) results.sentences.who = title_of(rows);
    for (auto& row : rows)
        put_names(row);
    results.of<rows::Who>() = std::move(rows);
}

}  // namespace stapgen::kinds::who
