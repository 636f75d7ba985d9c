#include "report/model/timeline.h"

#include <algorithm>

#include "base/saturate.h"

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

}  // namespace stapgen::report
