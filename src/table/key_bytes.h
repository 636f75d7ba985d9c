// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "table/cells.h"
#include "table/keys.h"

/// Bytes that only equal cells have.
namespace stapgen::table {

inline void append_key(std::uint64_t number, std::string& key) {
    for (unsigned shift = 0; shift < 64; shift += 8)
        key += static_cast<char>(number >> shift);
}
inline void append_key(std::int64_t number, std::string& key) {
    append_key(static_cast<std::uint64_t>(number), key);
}
inline void append_key(bool flag, std::string& key) {
    key += flag ? '\1' : '\0';
}
inline void append_key(const std::string& text, std::string& key) {
    append_key(std::uint64_t{text.size()}, key);
    key += text;
}
template <class T>
void append_key(const std::optional<T>& known, std::string& key);
template <class T>
void append_key(const std::vector<T>& values, std::string& key);
template <class T>
void append_key(const Shared<T>& shared, std::string& key);
inline void append_key(const Place& place, std::string& key);
inline void append_key(const Reason& reason, std::string& key);
inline void append_key(const GroupField& field, std::string& key);

template <class T>
void append_key(const std::optional<T>& known, std::string& key) {
    key += known ? '\1' : '\0';
    if (known) append_key(*known, key);
}
template <class T>
void append_key(const std::vector<T>& values, std::string& key) {
    append_key(std::uint64_t{values.size()}, key);
    for (const auto& value : values)
        append_key(value, key);
}
template <class T>
void append_key(const Shared<T>& shared, std::string& key) {
    append_key(*shared, key);
}
inline void append_key(const Place& place, std::string& key) {
    append_key(place.address, key);
    append_key(place.symbol, key);
    append_key(place.offset, key);
    append_key(place.module, key);
}
inline void append_key(const Reason& reason, std::string& key) {
    append_key(reason.number, key);
    append_key(reason.name, key);
}
inline void append_key(const GroupField& field, std::string& key) {
    append_key(field.key, key);
    key += static_cast<char>(field.value.index());
    std::visit([&](const auto& held) { append_key(held, key); }, field.value);
}

}  // namespace stapgen::table
