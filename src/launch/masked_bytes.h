// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stapgen::launch {

/// 16 bytes; a script compares those under a mask: a device's name, a thread's name.
struct MaskedBytes {
    std::array<unsigned char, 16> bytes{}, mask{};

    /// The values of a script's globals stapgen_NAME_a and _b (bytes 0 to 7 and 8 to 15) and stapgen_NAME_mask_a and
    /// _b, as numbers in network byte order.
    [[nodiscard]] std::map<std::string, std::string> globals(std::string_view name) const;
};

/// A packet's mark (skb->mark); a script compares the bits under a mask that is not 0.
struct MaskedMark {
    std::uint32_t mark = 0, mask = 0;

    /// The values of a script's globals stapgen_mark and stapgen_mark_mask.
    [[nodiscard]] std::map<std::string, std::string> globals() const;
};

/// MARK[/MASK], decimal or hexadecimal with 0x as nft(8) and ip(8) have it; all 32 bits without a mask. Bits beyond the
/// mask are an error, and so is a mask of 0.
base::Result<MaskedMark> masked_mark(std::string_view text);

/// A name as the kernel keeps it in 16 bytes, cut to 15. The mask ends with the NUL: there may be rubbish behind it.
MaskedBytes masked_name(std::string_view name);

}  // namespace stapgen::launch
