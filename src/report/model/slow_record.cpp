#include "report/model/slow_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/saturate.h"
#include "base/text.h"
#include "report/model/measures.h"

namespace stapgen::report {

Timeline timeline_of(const analyze::SlowRecord& record) {
    Timeline timeline;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < record.stages.size(); ++i) {
        if (!record.stages[i]) continue;
        timeline.steps.push_back({i, at, *record.stages[i]});
        at = base::saturating_add(at, *record.stages[i]);
    }
    timeline.length_ns = std::max({std::int64_t{1}, at, record.total_ns});
    return timeline;
}

std::string record_name(std::string_view direction, const analyze::Group& of) {
    const auto text_of = [&](std::string_view key) {
        const auto found = std::ranges::find(of, key, &analyze::GroupField::key);
        return found == of.end() ? std::string() : group_text(*found);
    };
    const auto local = text_of("local"), remote = text_of("remote"), comm = text_of("comm"), tid = text_of("tid");
    const bool has_ends = !local.empty() && !remote.empty(), has_thread = !comm.empty() && !tid.empty();
    std::vector<std::string> parts;
    std::string first = base::printable(direction);
    if (has_ends) {
        if (!first.empty()) first += ' ';
        first += direction == "rx" ? remote : local;
        first += direction == "rx" || direction == "tx" ? " > " : " - ";
        first += direction == "rx" ? local : remote;
    }
    if (!first.empty()) parts.push_back(std::move(first));
    for (const auto& field : of) {
        const auto& key = field.key;
        const auto text = group_text(field);
        if (text.empty() || (has_ends && (key == "local" || key == "remote"))) continue;
        if (has_thread && (key == "comm" || (key == "pid" && text == tid))) continue;
        if (key == "bytes") {
            parts.push_back(text + " bytes");
        } else if (key == "dev") {
            parts.push_back(text);
        } else if (has_thread && key == "tid") {
            parts.push_back(comm + '/' + text);
        } else {
            parts.push_back(base::printable(key) + ' ' + text);
        }
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace stapgen::report
