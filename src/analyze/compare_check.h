#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"

namespace stapgen::analyze {

/// Error (bad_input): what one side says does not mean the same as what the other says. Each side is merged already.
base::Result<void> check_comparable(const Summary& before, const Summary& after);

/// What speaks against trusting a comparison: data is missing on a side, or they were measured at the same time.
std::vector<std::string> doubts(std::span<const Summary> before, std::span<const Summary> after);

}  // namespace stapgen::analyze
