#include "analyze/script_counts.h"

#include <algorithm>

#include "base/saturate.h"

namespace stapgen::analyze {

ScriptCounts::ScriptCounts(std::span<const decode::Count> counts) {
    for (const auto& [key, value] : counts) {
        if (key == "seen") {
            told = true;
            seen = value;
        } else if (key == "reported") {
            reported = value;
        } else if (key == "filtered") {
            filtered = value;
        } else if (key == "incomplete" || key == "lost") {
            add_cause(key == "lost" ? lost : incomplete, "unspecified", value);
        } else if (key.starts_with("incomplete.")) {
            add_cause(incomplete, key.substr(key.find('.') + 1), value);
        } else if (key.starts_with("lost.")) {
            add_cause(lost, key.substr(key.find('.') + 1), value);
        } else {
            add_cause(other, key, value);
        }
    }
}

std::vector<Cause> difference(std::vector<Cause> now, const std::vector<Cause>& before) {
    for (auto& cause : now) {
        const auto found = std::ranges::find(before, cause.name, &Cause::name);
        if (found != before.end()) cause.count = base::saturating_subtract(cause.count, found->count);
    }
    // What was there at the last tick and is no more has been taken back.
    for (const auto& cause : before) {
        if (std::ranges::find(now, cause.name, &Cause::name) == now.end()) now.push_back({cause.name, -cause.count});
    }
    return now;
}

}  // namespace stapgen::analyze
