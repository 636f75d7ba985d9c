// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kinds/measured.h"
#include "recording/facts.h"

namespace stapgen::session {

/// Puts names that the recording has into the samples of code, and into what threads waited for that are futexes:
/// "cache_lock in app", "heap of app".
void put_code(const recording::RunFacts& facts, kinds::Measured& measured);

/// The address of a futex, as the field `by` of who waits for it says it: "0x55d0c0a0b040". Nothing: it is no such
/// text.
std::optional<std::uint64_t> lock_address(std::string_view by);

}  // namespace stapgen::session
