// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/masked_bytes.h"

#include <endian.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/text.h"

namespace stapgen::launch {

std::map<std::string, std::string> MaskedBytes::globals(std::string_view name) const {
    std::map<std::string, std::string> values;
    const auto put = [&](std::string_view part, const unsigned char* from) {
        std::uint64_t number = 0;
        std::memcpy(&number, from, sizeof number);
        values[fmt::format("stapgen_{}_{}", name, part)] = fmt::to_string(static_cast<std::int64_t>(::be64toh(number)));
    };
    put("a", &bytes[0]);
    put("b", &bytes[8]);
    put("mask_a", &mask[0]);
    put("mask_b", &mask[8]);
    return values;
}

std::map<std::string, std::string> MaskedMark::globals() const {
    return {{"stapgen_mark", fmt::to_string(mark)}, {"stapgen_mark_mask", fmt::to_string(mask)}};
}

base::Result<MaskedMark> masked_mark(std::string_view text) {
    const auto number = [](std::string_view typed) -> base::Result<std::uint32_t> {
        const bool is_hex = typed.starts_with("0x") || typed.starts_with("0X");
        const auto value = is_hex ? base::to_unsigned(typed.substr(2), 16) : base::to_unsigned(typed);
        if (value && *value <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(*value);
        return base::bad_input(fmt::format("'{}' is not a mark", base::printable(typed)),
                               "write MARK or MARK/MASK, each of 32 bits, decimal or hexadecimal: 17, 0x9999 or "
                               "0x100/0xff00");
    };
    const auto slash = std::min(text.find('/'), text.size());
    STAPGEN_LET(const auto mark, number(text.substr(0, slash)));
    MaskedMark result{mark, std::numeric_limits<std::uint32_t>::max()};
    if (slash < text.size()) {
        STAPGEN_LET(const auto mask, number(text.substr(slash + 1)));
        result.mask = mask;
    }
    if (result.mask == 0) return base::bad_input("a mask of 0 lets every packet pass", "omit the filter");
    if (result.mark & ~result.mask) {
        return base::bad_input(
            fmt::format("'{}' has bits set beyond its mask, so no packet would match", text),
            fmt::format("the bits under the mask are 0x{:x}/0x{:x}", result.mark & result.mask, result.mask));
    }
    return result;
}

MaskedBytes masked_name(std::string_view name) {
    constexpr std::size_t kept = 15;  // TASK_COMM_LEN and IFNAMSIZ, less the NUL
    name = name.substr(0, kept);
    MaskedBytes result;
    std::copy(name.begin(), name.end(), result.bytes.begin());
    std::fill_n(result.mask.begin(), name.size() + 1, 0xff);
    return result;
}

}  // namespace stapgen::launch
