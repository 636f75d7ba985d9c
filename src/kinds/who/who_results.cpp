// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/saturate.h"
#include "kinds/who/who.h"
#include "table/merge.h"
#include "table/texts.h"

namespace stapgen::kinds::who {

namespace {

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
    row.waiter = fmt::format("{}[{}]", table::group_text(row.group, "comm"), table::group_text(row.group, "tid"));
    row.waited = table::group_text(row.group, "waited");
    row.by = row.frames ? innermost(**row.frames)
                        : table::group_text(row.group, "by") + table::group_text(row.group, "cgroup");
    if (row.with_packet_ns) return;
    row.waker = table::group_text(row.group, "waker");
    row.holder = table::group_text(row.group, "holder");
    row.meanwhile = table::group_text(row.group, "meanwhile");
}

/// Of requests. What another server took is in the sleeps for it.
bool is_of_questions(const rows::Who& row) {
    return !row.with_packet_ns && table::group_text(row.group, "waited").starts_with("server.");
}

/// In sum, by what was waited for.
std::string title_of(const std::vector<rows::Who>& rows) {
    std::map<std::string, std::pair<std::int64_t, std::optional<std::int64_t>>> sums;
    for (const auto& row : rows) {
        if (is_of_questions(row)) continue;
        auto& [sum, with_packet] = sums[table::is_other(row.group) ? "other" : table::group_text(row.group, "waited")];
        base::add_saturating(sum, row.sum_ns);
        if (row.with_packet_ns) with_packet = base::saturating_add(with_packet.value_or(0), *row.with_packet_ns);
    }
    std::vector<std::string> texts;
    for (const auto& [waited, times] : sums) {
        texts.push_back(fmt::format("{} {}", waited, table::duration_text(times.first)));
        if (times.second) texts.back() += fmt::format(" ({})", table::duration_text(*times.second));
    }
    const auto are_of_packets =
        std::ranges::any_of(rows, [](const rows::Who& row) { return row.with_packet_ns.has_value(); });
    return fmt::format("{}: {}",
                       are_of_packets
                           ? "What threads that read packets waited for, and how much of it while a packet lay ready"
                           : "What threads slept for while they had a request to answer",
                       fmt::join(texts, ", "));
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
