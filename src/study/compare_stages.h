// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "study/compare.h"
#include "table/series.h"

/// For compare(): its sides, which stages these have, and which only one of them.
namespace stapgen::study {

/// With fewer blocks on a side nothing is said about it. Recordings are less alike than blocks, and fewer are enough.
inline constexpr std::size_t min_blocks = 10, min_recordings = 4;

/// One side, as it is worked on.
struct SideBlocks {
    Measured merged;
    table::Series series;  ///< its blocks, long enough
    std::span<const Measured> recordings;
    bool by_recording = false;

    [[nodiscard]] std::size_t needed() const { return by_recording ? min_recordings : min_blocks; }
};

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
