// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "table/histogram.h"

/// What cells hold.
namespace stapgen::table {

/// A place in the kernel's code. Where it has no name, the address is all that is known.
struct Place {
    std::optional<std::uint64_t> address{};
    std::optional<std::string> symbol{};
    std::optional<std::uint64_t> offset{};  ///< bytes from the symbol
    std::optional<std::string> module{};    ///< nothing: the kernel itself, or not known

    auto operator<=>(const Place&) const = default;
};

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

/// A value that is not changed, and that copies of a cell share: rows are copied, and a histogram has kilobytes.
template <class T>
class Shared {
  public:
    Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}  // NOLINT(google-explicit-constructor)

    const T& operator*() const { return *value_; }
    const T* operator->() const { return value_.get(); }

    bool operator==(const Shared& other) const { return (*this <=> other) == 0; }
    std::strong_ordering operator<=>(const Shared& other) const {
        if (value_ == other.value_) return std::strong_ordering::equal;
        if constexpr (requires { value_->compare(*other.value_); }) {
            return value_->compare(*other.value_) <=> 0;
        } else {
            return *value_ <=> *other.value_;
        }
    }

  private:
    std::shared_ptr<const T> value_;
};

/// Nothing (std::monostate): it is not known, or does not apply. A column's Type says which of the others it is.
using Value =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, Shared<Place>, Shared<Reason>, Shared<Path>,
                 Shared<Group>, Shared<Durations>, Shared<Labels>, Shared<Texts>, Shared<Histogram>>;

/// Of what is not known: nothing.
template <class T>
Value value_of(const std::optional<T>& known) {
    return known ? Value(*known) : Value();
}

/// Null where the cell holds something else, or nothing.
template <class T>
const T* held(const Value& value) {
    if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) {
        const auto* shared = std::get_if<Shared<T>>(&value);
        return shared == nullptr ? nullptr : &**shared;
    } else {
        return std::get_if<T>(&value);
    }
}

/// A copy of it; nothing where the cell holds something else.
template <class T>
std::optional<T> known(const Value& value) {
    const auto* there = held<T>(value);
    return there == nullptr ? std::nullopt : std::optional<T>(*there);
}

/// A count; 0 where there is none.
inline std::int64_t count_of(const Value& value) {
    const auto* count = std::get_if<std::int64_t>(&value);
    return count == nullptr ? 0 : *count;
}

/// Appends bytes that only an equal value has.
void append_key(const Value& value, std::string& key);

}  // namespace stapgen::table
