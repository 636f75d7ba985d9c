// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "kinds/measured.h"
#include "recording/facts.h"

namespace stapgen::session {

/// Puts names into the samples of code: those that the recording has.
void put_code(const recording::RunFacts& facts, kinds::Tables& tables);

}  // namespace stapgen::session
