// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <map>
#include <utility>

#include "kinds/measured.h"
#include "recording/facts.h"

namespace stapgen::serve {

/// Names of places in this kernel for a measurement without an end. The kernel's symbols are read when a place comes up
/// that has no name yet, which is seldom, and not kept: so modules loaded since have names, and there is
/// nothing of 20 MB in memory.
class DropNames {
  public:
    /// Function and module instead of each address, and the reason's name instead of its number; "unknown" where
    /// there is none. A function's offset is left out: it differs from kernel to kernel.
    void put_into(kinds::Measured& interval, const recording::RunFacts& facts);

  private:
    using Key = std::pair<table::Place, table::Reason>;

    std::map<Key, Key> known_;
};

}  // namespace stapgen::serve
