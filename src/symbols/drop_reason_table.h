// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stapgen::symbols {

using LinuxVersion = std::array<unsigned, 3>;  ///< 6.12.117: {6, 12, 117}

/// enum skb_drop_reason of one release. SKB_DROP_REASON_MAX and _SUBSYS_MASK, which are no reasons, are left out.
struct ReasonTable {
    std::string_view release;                  ///< whose numbers these are: "6.12.107"
    bool same_series = false;                  ///< first two parts of its version as asked for
    std::vector<std::string_view> names;       ///< by number
    std::vector<std::string_view> subsystems;  ///< by the high 16 bits of a reason; empty before 6.4
};

/// The newest table that is not newer than `version`; there is none before 5.17.
std::optional<ReasonTable> reason_table(const LinuxVersion& version);

/// How the subsystem of this number, the high 16 bits of a reason, is called in one release or another:
/// "OPENVSWITCH/QDISC" for 3. Empty: in none.
std::string subsystem_of_any_release(std::uint32_t number);

}  // namespace stapgen::symbols
