// SPDX-License-Identifier: GPL-2.0-or-later
// Comparisons of what rows.h has.
#pragma once

#include <span>
#include <vector>

#include "study/compare.h"
#include "unit/rows.h"

namespace stapgen::summaries {

inline base::Result<study::Comparison> compare(std::span<const Summary> before, std::span<const Summary> after,
                                               const study::CompareOptions& options = {}) {
    const auto all_of = [](std::span<const Summary> side) {
        return measured_of(std::vector<Summary>(side.begin(), side.end()));
    };
    auto compared = study::compare(all_of(before), all_of(after), options);
    if (!compared) return tl::make_unexpected(compared.error());
    return std::move(compared->comparison);
}

inline base::Result<study::Comparison> compare(const Summary& before, const Summary& after,
                                               const study::CompareOptions& options = {}) {
    return compare(std::span(&before, 1), std::span(&after, 1), options);
}

}  // namespace stapgen::summaries
