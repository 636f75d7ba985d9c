#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "symbols/files/kernel_image.h"
#include "symbols/files/symbol_table.h"

namespace stapgen::symbols {

/// A function's name as the source has it: without what compilers add (".constprop.0", ".isra.0", ".part.0", ".cold").
std::string_view source_name(std::string_view symbol);

/// Functions of Linux whose return addresses, or whose own address, were found to be a `location`, by source_name(),
/// sorted. From real kernels: see drop_functions.h.
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
    [[nodiscard]] bool exact() const { return exact_; }
    [[nodiscard]] std::size_t size() const { return ranges_.size(); }

  private:
    std::vector<Range> ranges_;
    bool exact_ = false;
};

}  // namespace stapgen::symbols
