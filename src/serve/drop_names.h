// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/summary.h"
#include "recording/facts.h"

namespace stapgen::serve {

/// Names of places in this kernel for a measurement without an end. The kernel's symbols are read when a place comes up
/// that has no name yet, which is seldom, and not kept: so modules loaded since have names, and there is
/// nothing of 20 MB in memory.
class DropNames {
  public:
    /// Function and module instead of each address, and the reason's name instead of its number; "unknown" where
    /// there is none. A function's offset is left out: it differs from kernel to kernel.
    void put_into(std::vector<analyze::Drop>& drops, const recording::RunFacts& facts);

  private:
    using Key = std::tuple<std::optional<std::uint64_t>, std::optional<std::string>, std::int64_t>;

    std::map<Key, analyze::Drop> known_;
};

}  // namespace stapgen::serve
