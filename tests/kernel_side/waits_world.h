// SPDX-License-Identifier: GPL-2.0-or-later
// What packets waited for, as tests compare it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "c/waits.h"
#include "world.h"

using Parts = std::map<std::string, s64>;

#define STAPGEN_CAUSE_NAME(name) #name,
inline constexpr const char* tx_causes[] = {STAPGEN_TX_CAUSES_LIST(STAPGEN_CAUSE_NAME)};
inline constexpr const char* rx_causes[] = {STAPGEN_RX_CAUSES_LIST(STAPGEN_CAUSE_NAME)};
/// By the names that records have.
inline Parts parts_of(const stapgen_waits& waits, const char* const* names) {
    Parts parts;
    for (int i = 0; i < STAPGEN_CAUSES; i++) {
        if (!(waits.said >> i & 1) || !waits.ns[i]) continue;
        std::string name = names[i];
        std::replace(name.begin(), name.end(), '_', '-');
        parts[name] = waits.ns[i];
    }
    return parts;
}
inline s64 sum_of(const Parts& parts) {
    s64 sum = 0;
    for (const auto& [name, ns] : parts)
        sum += ns;
    return sum;
}

/// That cause has that time, and a few looks at the clock more.
inline void check_cause(const Parts& parts, const char* cause, s64 ns) {
    INFO(cause);
    REQUIRE(parts.count(cause) == 1);
    CHECK(parts.at(cause) >= ns);
    CHECK(parts.at(cause) < ns + 20);
}
