// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "study/compare.h"

/// For compare(): which stages the two sides have, and which only one of them.
namespace stapgen::study {

/// Sets what is on one side only. Error (bad_input): they have no stage in common.
base::Result<void> set_one_sided_stages(const Measured& before, const Measured& after, Comparison& comparison);

/// What parts have changed.
std::vector<PartChange> changes_of_parts(const Measured& before, const Measured& after);

/// The warning of it, in words.
std::string one_sided_text(const Comparison& comparison);

/// Those of the stages of a Breakdown that have values.
std::vector<std::string> seen_stages(const Measured& measured, const table::Breakdown& breakdown);

/// "total", "rx total".
bool is_total(std::string_view stage);

}  // namespace stapgen::study
