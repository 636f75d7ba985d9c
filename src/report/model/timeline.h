#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/breakdown.h"

namespace stapgen::report {

/// One record's stages in the order of its way, each beginning where the one before it ends.
struct Timeline {
    struct Step {
        std::size_t stage = 0;  ///< place in Breakdown::stages()
        std::int64_t begin_ns = 0, ns = 0;
    };
    std::vector<Step> steps;     ///< those that were seen
    std::int64_t length_ns = 1;  ///< of the record and of all steps; at least 1
};

Timeline timeline_of(const analyze::SlowRecord& record);

}  // namespace stapgen::report
