// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <compare>
#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

/// What visitors of columns need to know of cells.
namespace stapgen::table {

/// A value that copies of a cell share until one of them changes: rows are copied, and a histogram has kilobytes.
template <class T>
class Shared {
  public:
    Shared() requires std::default_initializable<T> : Shared(T()) {}
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

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_shared = false;
template <class T>
inline constexpr bool is_shared<Shared<T>> = true;

/// Calls with the value of a cell, whether it is there and shared or not.
template <class Cell>
void with_value(Cell&& cell, const auto& visit) {
    using Held = std::remove_cvref_t<Cell>;
    if constexpr (is_optional<Held>) {
        if (cell) with_value(*cell, visit);
    } else if constexpr (is_shared<Held>) {
        visit(*cell);
    } else {
        visit(cell);
    }
}

}  // namespace stapgen::table
