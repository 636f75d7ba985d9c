#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace stapgen::analyze {

/// One key of a group: a number, a text (unescaped, so any bytes), or true for the key "other".
struct GroupField {
    std::string key;
    std::variant<std::int64_t, std::string, bool> value;

    auto operator<=>(const GroupField&) const = default;
};

/// Which part of the whole a measure is of; empty for the whole itself. {"other": true} holds what did not
/// fit into the number of groups that are kept.
using Group = std::vector<GroupField>;

}  // namespace stapgen::analyze
