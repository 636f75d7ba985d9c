// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <array>

namespace stapgen::base {

/// The beginning of ::ffff:a.b.c.d, which is how IPv6 sockets have a.b.c.d; in packets there is none.
inline constexpr std::array<unsigned char, 12> mapped_ipv4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

inline bool is_mapped_ipv4(const std::array<unsigned char, 16>& address) {
    return std::equal(mapped_ipv4.begin(), mapped_ipv4.end(), address.begin());
}

}  // namespace stapgen::base
