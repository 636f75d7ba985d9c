#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/symbol_table.h"

namespace stapgen::symbols {

/// An address as it was given, and the function it lies in. Its views live as long as the table.
struct ResolvedAddress {
    std::uint64_t address = 0;
    std::optional<Symbol> symbol;  ///< none: not in the table's code (a module, BPF, data, no address at all)
};

/// What stands for a name where there is none.
inline constexpr std::string_view unknown_symbol = "module or unknown";

/// `word` is a hex address, with or without 0x, in upper or lower case, blanks around it. Error (bad_input):
/// it is not. An address without a name is no error.
base::Result<ResolvedAddress> resolve_address(const SymbolTable& table, std::string_view word,
                                              const Lookup& lookup = {});

base::Result<ResolvedAddress> resolve_address(const SymbolTable&& table, std::string_view word,
                                              const Lookup& lookup = {}) = delete;

/// "icmp_rcv+0x12/0x350", or unknown_symbol. The address itself is not in it.
std::string to_string(const ResolvedAddress& resolved);

}  // namespace stapgen::symbols
