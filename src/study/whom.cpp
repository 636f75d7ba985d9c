// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/whom.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "base/saturate.h"
#include "schema/schema.h"
#include "table/texts.h"

namespace stapgen::study {

namespace {

using table::Group;

constexpr double least_share = 0.05;

/// Whether what a thread waited for is of the time that a part is about. That its thread was throttled is in the
/// kernel's run_delay.
bool is_about(std::string_view part, std::string_view waited) {
    const auto cause = schema::cause_of(part);
    if (schema::divided_stage(part) == "app") return waited == cause;
    if (cause == "run-queue") return waited == "run-queue" || waited == "throttled";
    return cause == "asleep" && (waited == "asleep" || waited == "stopped" || waited == "frozen");
}

std::string by_of(const rows::Who& row) {
    if (!row.frames) return table::group_text(row.group, "by") + table::group_text(row.group, "cgroup");
    const auto& path = **row.frames;
    return path.empty() ? "" : table::function_text(path.front());
}

/// "behind spin[77]", "throttled in /system.slice/backup.service"; empty: that is not known.
std::string phrase(std::string_view waited, std::string_view by) {
    if (waited == "stopped" || waited == "frozen") return std::string(waited);
    auto text = table::whom_text(waited, by);
    return waited == "throttled" && !text.empty() ? "throttled " + text : text;
}

}  // namespace

std::optional<Whom> whom_of(const rows::Results& results, std::string_view part) {
    std::map<std::pair<std::string, std::string>, std::int64_t> sums;
    std::int64_t all = 0;
    for (const auto& row : results.of<rows::Who>()) {
        const auto waited = table::group_text(row.group, "waited");
        if (!row.with_packet_ns || !is_about(part, waited)) continue;
        base::add_saturating(all, *row.with_packet_ns);
        base::add_saturating(sums[{waited, by_of(row)}], *row.with_packet_ns);
    }
    std::erase_if(sums, [](const auto& sum) { return table::whom_text(sum.first.first, sum.first.second).empty(); });
    const auto most = std::ranges::max_element(sums, {}, [](const auto& sum) { return sum.second; });
    if (most == sums.end() || all <= 0) return std::nullopt;
    const auto share = static_cast<double>(most->second) / static_cast<double>(all);
    if (share < least_share) return std::nullopt;
    return Whom{most->first.first, most->first.second, share};
}

std::string whom_sentence(const Whom& whom) {
    return fmt::format("; {} of the readers' {} was {}", table::percent(whom.share),
                       whom.waited == "asleep" ? "sleep" : "wait", phrase(whom.waited, whom.by));
}

std::string whom_of_all(const std::vector<const Group*>& records, std::string_view part) {
    std::string whom;
    for (const auto* record : records) {
        const auto waited = table::group_text(*record, "waited");
        const auto text = phrase(waited, table::group_text(*record, "by"));
        if (text.empty() || !(is_about(part, waited) || (waited == "asleep" && schema::cause_of(part) == "wake-up")))
            return {};
        if (!whom.empty() && whom != text) return {};
        whom = text;
    }
    return whom;
}

}  // namespace stapgen::study
