// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// What rows are of.
namespace stapgen::table {

/// A place in the kernel's code. Where it has no name, the address is all that is known.
struct Place {
    std::optional<std::uint64_t> address{};
    std::optional<std::string> symbol{};
    std::optional<std::uint64_t> offset{};  ///< bytes from the symbol
    std::optional<std::string> module{};    ///< nothing: the kernel itself, or not known

    auto operator<=>(const Place&) const = default;
};

/// Where it has a name that is all of it: addresses and offsets differ from kernel to kernel.
inline void keep_name_only(Place& place) {
    if (!place.symbol) return;
    place.address.reset();
    place.offset.reset();
}

/// A call path, the innermost function first; empty: further paths.
using Path = std::vector<Place>;

/// Why a packet was dropped.
struct Reason {
    std::int64_t number = -1;  ///< the kernel's, -1: none given
    std::optional<std::string> name{};

    auto operator<=>(const Reason&) const = default;
};

/// ns, one for each of some stages; nothing where a stage was not seen.
using Durations = std::vector<std::pair<std::string, std::optional<std::int64_t>>>;

/// One key of a group: a number, a text (unescaped, so any bytes), or true for the key "other".
struct GroupField {
    std::string key;
    std::variant<std::int64_t, std::string, bool> value;

    auto operator<=>(const GroupField&) const = default;
};

/// What records that are counted together have in common; empty for the whole. {"other": true} holds what did not fit
/// into the number of groups that are kept.
using Group = std::vector<GroupField>;

inline bool is_other(const Group& group) {
    return !group.empty() && std::holds_alternative<bool>(group.front().value);
}

/// What the user calls things: label or option -> value.
using Labels = std::vector<std::pair<std::string, std::string>>;
using Texts = std::vector<std::string>;

}  // namespace stapgen::table
