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

#include "table/average.h"
#include "table/breakdown.h"
#include "table/counter_tracks.h"
#include "table/histogram.h"
#include "table/keys.h"
#include "table/series.h"

/// What cells hold.
namespace stapgen::table {

/// A value that copies of a cell share until one of them changes: rows are copied, and a histogram has kilobytes.
template <class T>
class Shared {
  public:
    Shared(T value) : value_(std::make_shared<T>(std::move(value))) {}  // NOLINT(google-explicit-constructor)

    const T& operator*() const { return *value_; }
    const T* operator->() const { return value_.get(); }
    /// To be changed: no other cell has it any more.
    T& own() {
        if (value_.use_count() > 1) value_ = std::make_shared<T>(std::as_const(*value_));
        return *value_;
    }

    bool operator==(const Shared& other) const { return (*this <=> other) == 0; }
    /// What has no order of its own is equal to itself only.
    std::strong_ordering operator<=>(const Shared& other) const {
        if (value_ == other.value_) return std::strong_ordering::equal;
        if constexpr (requires { value_->compare(*other.value_); }) {
            return value_->compare(*other.value_) <=> 0;
        } else if constexpr (requires { *value_ <=> *other.value_; }) {
            return *value_ <=> *other.value_;
        } else {
            return std::compare_three_way()(value_.get(), other.value_.get());
        }
    }

  private:
    std::shared_ptr<T> value_;
};

/// Nothing (std::monostate): it is not known, or does not apply. A column's Type says which of the others it is.
using Value =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, Shared<Place>, Shared<Reason>, Shared<Path>,
                 Shared<Group>, Shared<Durations>, Shared<Labels>, Shared<Texts>, Shared<Histogram>, Shared<Breakdown>,
                 Shared<Series>, Shared<Average>, Shared<CounterTracks>>;

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

/// A number that need not be whole; 0 where there is none.
inline double real_of(const Value& value) {
    const auto* number = std::get_if<double>(&value);
    return number == nullptr ? 0 : *number;
}

/// A text; empty where there is none.
inline std::string text_of(const Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text == nullptr ? std::string() : *text;
}

/// Appends bytes that only an equal value has.
void append_key(const Value& value, std::string& key);

}  // namespace stapgen::table
