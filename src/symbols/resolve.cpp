#include "symbols/resolve.h"

#include <fmt/format.h>

#include "base/text.h"

namespace stapgen::symbols {

base::Result<ResolvedAddress> resolve_address(const SymbolTable& table, std::string_view word, const Lookup& lookup) {
    auto digits = base::trim(word);
    if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
    const auto address = base::to_unsigned(digits, 16);
    if (!address) {
        return base::bad_input(fmt::format("\"{}\" is not an address", base::printable(base::trim(word))),
                               "an address is 1 to 16 hex digits, with or without 0x: ffffffff8149a8ed");
    }
    return ResolvedAddress{*address, table.find(*address, lookup)};
}

std::string to_string(const ResolvedAddress& resolved) {
    return resolved.symbol ? to_string(*resolved.symbol) : std::string(unknown_symbol);
}

}  // namespace stapgen::symbols
