// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "kinds/intervals.h"
#include "kinds/kind.h"
#include "rows/results.h"

/// Where programs were while slow requests waited for them, by samples.
namespace stapgen::kinds::functions {

/// Fewer samples say nothing.
inline constexpr std::int64_t fewest_samples = 30;
/// As a function: of code that nothing gives a name.
inline constexpr std::string_view nameless = "code without a name";

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log);
/// The functions, the one with most samples first, and what a reader must know of them.
void put_results(const Measured& measured, const Asked& asked, rows::Results& results);

}  // namespace stapgen::kinds::functions
