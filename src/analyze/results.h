// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string_view>

#include "analyze/kinds.h"
#include "kinds/measured.h"
#include "rows/results.h"

namespace stapgen::analyze {

using kinds::Measured;

/// What was measured as all formats write it: with shares, totals, the tail, advice, and sentences for people.
rows::Results results_of(const Measured& measured, const kinds::Asked& asked = {});

/// How often a script has counted something beside its account (account_names()); 0: it has not.
std::int64_t counted_beside(const rows::Results& results, std::string_view name);

}  // namespace stapgen::analyze
