#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/summary.h"
#include "decode/record.h"

namespace stapgen::analyze {

/// The script's own counts, as the last tick or end line gave them: docs/recording-format.md, "Counts".
struct ScriptCounts {
    bool told = false;  ///< it has said how many it has seen
    std::int64_t seen = 0, reported = 0, filtered = 0;
    std::vector<Cause> incomplete, lost, other;

    ScriptCounts() = default;
    explicit ScriptCounts(std::span<const decode::Count> counts);
};

/// What was added since `before`.
std::vector<Cause> difference(std::vector<Cause> now, const std::vector<Cause>& before);

}  // namespace stapgen::analyze
