// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/value.h"

#include <bit>
#include <string_view>

namespace stapgen::table {

namespace {

void append(std::uint64_t number, std::string& key) {
    for (unsigned shift = 0; shift < 64; shift += 8)
        key += static_cast<char>(number >> shift);
}

void append(std::string_view text, std::string& key) {
    append(text.size(), key);
    key += text;
}

template <class T>
void append(const std::optional<T>& known, std::string& key) {
    key += known ? '\1' : '\0';
    if (known) append(*known, key);
}

void append(std::int64_t number, std::string& key) {
    append(static_cast<std::uint64_t>(number), key);
}
void append(bool flag, std::string& key) {
    key += flag ? '\1' : '\0';
}
void append(double number, std::string& key) {
    append(std::bit_cast<std::uint64_t>(number), key);
}
void append(const std::string& text, std::string& key) {
    append(std::string_view(text), key);
}
void append(std::monostate /*nothing*/, std::string& /*key*/) {}

void append(const Place& place, std::string& key) {
    append(place.address, key);
    append(place.symbol, key);
    append(place.offset, key);
    append(place.module, key);
}
void append(const Reason& reason, std::string& key) {
    append(reason.number, key);
    append(reason.name, key);
}
void append(const GroupField& field, std::string& key) {
    append(field.key, key);
    key += static_cast<char>(field.value.index());
    std::visit([&](const auto& held) { append(held, key); }, field.value);
}
template <class A, class B>
void append(const std::pair<A, B>& pair, std::string& key) {
    append(pair.first, key);
    append(pair.second, key);
}
template <class T>
void append(const std::vector<T>& values, std::string& key) {
    append(values.size(), key);
    for (const auto& value : values)
        append(value, key);
}
/// No table has one as a key: they have no bytes that say what they are.
void append(const Histogram& /*histogram*/, std::string& /*key*/) {}
void append(const Breakdown& /*breakdown*/, std::string& /*key*/) {}
void append(const Series& /*series*/, std::string& /*key*/) {}
void append(const Average& /*average*/, std::string& /*key*/) {}
void append(const CounterTracks& /*tracks*/, std::string& /*key*/) {}

template <class T>
void append(const Shared<T>& shared, std::string& key) {
    append(*shared, key);
}

}  // namespace

void append_key(const Value& value, std::string& key) {
    key += static_cast<char>(value.index());
    std::visit([&](const auto& held) { append(held, key); }, value);
}

}  // namespace stapgen::table
