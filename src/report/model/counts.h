#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/summary.h"

namespace stapgen::report {

/// The names of the keys, in the order in which they come up; "other" is none.
std::vector<std::string> keys_of(std::span<const analyze::Tally> tallies);

/// The value of that key; "other" in the first column of the group "other", else "".
std::string key_cell(const analyze::Tally& tally, const std::string& key, bool is_first);

/// In the column "LOSS"; of what is none the cell is empty.
std::string_view loss_cell(const analyze::Tally& tally);
/// Whether there is such a column.
bool has_losses(std::span<const analyze::Tally> tallies);

/// What stands above the totals: their sum; or, where they have no common unit, how many counters rose.
std::string counts_title(const analyze::Summary& summary, std::span<const analyze::Tally> totals);

/// The first key's text and what it means, once each, in the order of the rows; what has no meaning is left out. Where
/// several mean the same, that stands with the first one.
std::vector<std::pair<std::string, std::string>> meanings_of(std::span<const analyze::Tally> tallies);

}  // namespace stapgen::report
