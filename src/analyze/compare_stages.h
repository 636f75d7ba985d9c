// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/compare.h"

/// For compare(): which stages the two sides have, and which only one of them.
namespace stapgen::analyze {

/// Sets what is on one side only. Error (bad_input): they have no stage in common.
base::Result<void> set_one_sided_stages(const Summary& before, const Summary& after, Comparison& comparison);

/// The warning of it, in words.
std::string one_sided_text(const Comparison& comparison);

/// Those of the stages of a Breakdown that have values.
std::vector<std::string> seen_stages(const Summary& summary, const Breakdown& breakdown);

/// "total", "rx total".
bool is_total(std::string_view stage);

}  // namespace stapgen::analyze
