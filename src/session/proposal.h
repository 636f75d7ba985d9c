// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "recipe/catalog.h"
#include "session/replay.h"

namespace stapgen::session {

/// Puts a condition that would keep the seconds before the next time of what packets of a recording mostly waited for,
/// if there is its recipe. For that the files are read again; what cannot be (stdin), several recordings, and
/// not enough values have none. `options` as they were read with.
void put_proposal(const std::vector<std::filesystem::path>& files, const Presentation& presentation,
                  ReplayOptions options, const recipe::Catalog& catalog, kinds::Measured& measured);

/// The condition with a value that was passed in a tenth of the intervals at most, or in up to a quarter of them where
/// nothing else holds, at least twice the median, and readable. `values`: of the condition, whatever they are above.
/// Nothing where these are too few.
std::optional<rows::Proposal> proposal_of(when::Condition condition, std::span<const when::Met> values);

}  // namespace stapgen::session
