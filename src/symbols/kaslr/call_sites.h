#pragma once

#include <cstdint>
#include <span>
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
/// On arm64 exact. On x86-64 instructions are not told from the bytes inside of others: every byte that could begin a
/// call is taken for one, if what follows points to a function's first byte. Other architectures have none.
std::vector<CodeReference> find_references(std::span<const CodeRange> code, Architecture architecture,
                                           const SymbolTable& table);

/// What calls through a pointer within [begin, end) return to, ascending: a few too many on x86-64, where the kernel
/// may rewrite `call __x86_indirect_thunk_rax` (5 bytes) into `call *%rax` (2 bytes) at boot.
std::vector<std::uint64_t> find_indirect_calls(std::span<const CodeRange> code, Architecture architecture,
                                               const SymbolTable& table, std::uint64_t begin, std::uint64_t end);

}  // namespace stapgen::symbols
