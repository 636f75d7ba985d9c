// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "study/compare_stages.h"

/// For compare(): how many records failed, and why. Where records can fail, those that did have the stage `failure`,
/// all others the stage `answer`, and counts of `failures` have the cause as their first key.
namespace stapgen::study {

inline constexpr std::string_view stage_of_failures = "failure", stage_of_others = "answer";

/// Empty where neither side has a failure.
std::vector<FailureChange> changes_of_failures(const SideBlocks& before, const SideBlocks& after, double threshold);

}  // namespace stapgen::study
