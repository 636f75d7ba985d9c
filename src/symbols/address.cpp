#include "symbols/address.h"

#include <fmt/format.h>

#include "base/text.h"

namespace stapgen::symbols {

base::Result<std::uint64_t> parse_address(std::string_view word) {
    auto digits = base::trim(word);
    if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
    const auto address = base::to_unsigned(digits, 16);
    if (!address) {
        return base::bad_input(fmt::format("\"{}\" is not an address", base::printable(base::trim(word))),
                               "an address is 1 to 16 hex digits, with or without 0x: ffffffff8149a8ed");
    }
    return *address;
}

}  // namespace stapgen::symbols
