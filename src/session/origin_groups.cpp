#include "session/origin_groups.h"

#include <fmt/format.h>

namespace stapgen::session {

namespace {

void group_measures(const analyze::Group& origin, bool none_else, std::vector<analyze::Measure>& measures) {
    std::vector<analyze::Measure> wholes;
    for (auto& measure : measures) {
        if (!measure.group.empty()) {
            measure.group.insert(measure.group.begin(), origin.begin(), origin.end());
        } else if (none_else) {
            wholes.push_back({measure.name, origin, measure.stats});
        }
    }
    measures.insert(measures.end(), wholes.begin(), wholes.end());
}

}  // namespace

base::Result<void> group_by_origin(const std::vector<std::string>& words, bool none_else, const RecordingName& name,
                                   analyze::Summary& summary) {
    if (words.empty()) return {};
    if (summary.counts_drops) {
        return base::bad_input(fmt::format("--by {}: drops are by place and reason", words.front()),
                               "report the recordings one by one");
    }
    analyze::Group origin;
    for (const auto& word : words) {
        const auto& value = word == "host" ? name.host : name.recording;
        origin.push_back({word, value.empty() ? "-" : value});
    }
    group_measures(origin, none_else, summary.stages);
    group_measures(origin, none_else, summary.values);
    for (auto& tally : summary.tallies)
        tally.group.insert(tally.group.begin(), origin.begin(), origin.end());
    return {};
}

}  // namespace stapgen::session
