// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "symbols/files/kernel_image.h"
#include "symbols/files/symbol_table.h"

namespace stapgen::symbols {

/// An instruction that calls a function, or that jumps to one: a function that ends in such a jump leaves its own
/// caller as the place to return to.
struct CodeReference {
    std::uint64_t target = 0;  ///< where the function begins
    std::uint64_t next = 0;    ///< the instruction behind this one; what a call returns to
    bool jump = false;
};

/// All direct calls and jumps of `code` to where a function of `table` begins, init code left out, sorted by target.
/// On arm64 exact. On x86-64 instructions are not distinguished from the bytes inside of others: every byte that could
/// begin a call is taken for one, if what follows points to a function's first byte. Other architectures have none.
std::vector<CodeReference> find_references(std::span<const CodeRange> code, Architecture architecture,
                                           const SymbolTable& table);

/// What calls through a pointer within [begin, end) return to, ascending: a few too many on x86-64, where the kernel
/// may rewrite `call __x86_indirect_thunk_rax` (5 bytes) into `call *%rax` (2 bytes) at boot.
std::vector<std::uint64_t> find_indirect_calls(std::span<const CodeRange> code, Architecture architecture,
                                               const SymbolTable& table, std::uint64_t begin, std::uint64_t end);

/// A function's name as the source has it: without what compilers add (".constprop.0", ".isra.0", ".part.0", ".cold").
std::string_view source_name(std::string_view symbol);

/// Functions of Linux whose return addresses, or whose own address, were found to be a `location`, by source_name(),
/// sorted. From real kernels: drop_functions.txt.
std::span<const std::string_view> known_drop_functions();

/// Where a kernel's own code may drop a packet: what `location` of the tracepoint skb:kfree_skb can be. Addresses are
/// as in the table.
class DropSites {
  public:
    /// The return addresses of all calls (and the functions that end in a jump, whose caller is the place) to the
    /// functions that free a packet as dropped. `table` and `image` are of one kernel, both as linked.
    static DropSites from_code(const KernelImage& image, const SymbolTable& table) {
        return from_code(image.code(), image.architecture(), table);
    }
    static DropSites from_code(std::span<const CodeRange> code, Architecture architecture, const SymbolTable& table);
    /// Less exact: the whole of each function of `table` that is known to have such calls in some kernel.
    static DropSites from_names(const SymbolTable& table,
                                std::span<const std::string_view> sorted_names = known_drop_functions());

    struct Range {
        std::uint64_t begin = 0, end = 0;  ///< end excluded; of an exact site begin + 1
    };
    [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }  ///< ascending, apart
    [[nodiscard]] bool contains(std::uint64_t address) const;
    /// The same, of whole functions also those that dropped packets in kernels older than the list is made of.
    [[nodiscard]] bool may_contain(std::uint64_t address, std::string_view symbol) const;
    [[nodiscard]] bool exact() const { return exact_; }
    [[nodiscard]] std::size_t size() const { return ranges_.size(); }

  private:
    std::vector<Range> ranges_;
    bool exact_ = false;
};

}  // namespace stapgen::symbols
