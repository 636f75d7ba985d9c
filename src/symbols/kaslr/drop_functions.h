// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "symbols/files/symbol_table.h"

namespace stapgen::symbols {

/// A function's name as the source has it: without what compilers add (".constprop.0", ".isra.0", ".part.0", ".cold").
std::string_view source_name(std::string_view symbol);

/// Functions of Linux whose return addresses, or whose own address, were found to be a `location`, by source_name(),
/// sorted. From real kernels: drop_functions.txt.
std::span<const std::string_view> known_drop_functions();

/// The functions of a kernel's own code that are known to drop packets in some kernel: `location` of the tracepoint
/// skb:kfree_skb lies in them. Addresses are as in the table.
class DropFunctions {
  public:
    explicit DropFunctions(const SymbolTable& table,
                           std::span<const std::string_view> sorted_names = known_drop_functions());

    struct Range {
        std::uint64_t begin = 0, end = 0;  ///< end excluded
    };
    [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }  ///< ascending, apart
    [[nodiscard]] std::size_t size() const { return ranges_.size(); }
    [[nodiscard]] bool contains(std::uint64_t address) const;
    /// The same, also of functions that dropped packets in kernels older than the list is made of. `symbol` is the
    /// function's name.
    [[nodiscard]] bool may_contain(std::uint64_t address, std::string_view symbol) const;

  private:
    std::vector<Range> ranges_;
};

}  // namespace stapgen::symbols
