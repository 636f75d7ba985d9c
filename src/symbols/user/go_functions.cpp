// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/user/go_functions.h"

#include <cstring>
#include <limits>
#include <optional>

namespace stapgen::symbols::user {

namespace {

template <class T>
std::optional<T> at(std::string_view bytes, std::uint64_t offset) {
    T value{};
    if (offset > bytes.size() || bytes.size() - offset < sizeof value) return std::nullopt;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

/// From Go 1.18 on offsets of functions are 32 bits, from where the code begins.
constexpr std::uint32_t go_1_16 = 0xfffffffa, go_1_18 = 0xfffffff0, go_1_20 = 0xfffffff1;

/// src/internal/abi/symtab.go, src/runtime/symtab.go: the words of the header.
enum Word { functions, files, text_start, names, units, file_names, counters, table_begin };

}  // namespace

std::vector<GoFunction> go_functions(std::string_view table, std::uint64_t code, std::size_t most) {
    std::vector<GoFunction> all;
    const auto magic = at<std::uint32_t>(table, 0).value_or(0);
    const bool is_1_16 = magic == go_1_16;
    if (!is_1_16 && magic != go_1_18 && magic != go_1_20) return all;
    constexpr std::uint64_t first_word = 8;
    if (at<std::uint8_t>(table, first_word - 1) != sizeof(std::uint64_t)) return all;
    const auto word = [&](Word which) {
        // Go 1.16 has no text_start.
        const int number = is_1_16 && which > text_start ? which - 1 : which;
        return at<std::uint64_t>(table, first_word + sizeof(std::uint64_t) * static_cast<std::uint64_t>(number))
            .value_or(std::numeric_limits<std::uint64_t>::max());
    };
    const auto count = word(functions), begin_of_names = word(names), begin = word(table_begin);
    const auto start = is_1_16 ? 0 : word(text_start) == 0 ? code : word(text_start);
    if (count > most || begin_of_names > table.size() || begin > table.size()) return all;
    const auto number = [&](std::uint64_t offset) -> std::optional<std::uint64_t> {
        if (is_1_16) return at<std::uint64_t>(table, begin + offset * sizeof(std::uint64_t));
        const auto value = at<std::uint32_t>(table, begin + offset * sizeof(std::uint32_t));
        return value ? std::optional<std::uint64_t>(*value) : std::nullopt;
    };
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto entry = number(2 * i), place = number(2 * i + 1), next = number(2 * i + 2);
        if (!entry || !place || !next || *next < *entry || *place > table.size()) return {};
        const auto name =
            at<std::int32_t>(table, begin + *place + (is_1_16 ? sizeof(std::uint64_t) : sizeof(std::uint32_t)));
        if (!name || *name < 0) continue;
        const auto where = begin_of_names + static_cast<std::uint64_t>(*name);
        if (where > std::numeric_limits<std::uint32_t>::max()) continue;
        all.push_back({start + *entry, *next - *entry, static_cast<std::uint32_t>(where)});
    }
    return all;
}

}  // namespace stapgen::symbols::user
