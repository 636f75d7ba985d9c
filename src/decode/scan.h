// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <system_error>

#include "base/same_text.h"
#include "base/text.h"
#include "decode/read_field.h"

namespace stapgen::decode {

/// Takes the first line off the front of a text that is not empty; with its '\n', where it has one.
inline std::string_view take_line(std::string_view& text) {
    const auto line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    return line;
}

/// The first of `lines`, without its end.
inline std::string_view first_line(std::string_view lines) {
    auto line = lines.substr(0, lines.find('\n'));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

/// Without the signs of a mail's answer; the blanks behind them may have been the line's.
inline std::string_view unquoted(std::string_view line) {
    while (line.starts_with('>') || line.starts_with(" >"))
        line.remove_prefix(line.find('>') + 1);
    return line;
}

/// Where the digits at the end of a text begin, its end if there are none. `also`: a sign among them.
inline std::size_t begin_of_last_digits(std::string_view text, char also = '0') {
    auto begin = text.size();
    while (begin > 0 && (base::is_digit(text[begin - 1]) || text[begin - 1] == also))
        --begin;
    return begin;
}

/// Walks over one line. What does not fit leaves the rest of the line as it was and returns false.
struct Scan {
    std::string_view rest;

    // Inlined by force: `word` is mostly a constant, and then it is compared without a call; and `rest` stays in
    // registers as long as nothing needs its address.

    [[gnu::always_inline]] [[nodiscard]] bool begins_with(std::string_view word) const {
        return rest.size() >= word.size() && base::are_same({rest.data(), word.size()}, word);
    }

    [[gnu::always_inline]] bool skip(std::string_view word) {
        if (!begins_with(word)) return false;
        rest.remove_prefix(word.size());
        return true;
    }

    /// Blanks, tabs and backspaces, any number of them.
    [[gnu::always_inline]] void blanks() {
        while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\b'))
            rest.remove_prefix(1);
    }

    /// A decimal number that fits, with or without a sign. `raw` is its text.
    [[gnu::always_inline]] bool number(std::int64_t& value, std::string_view& raw) {
        const char* const begin = rest.data();
        const char* stop = nullptr;
        if (rest.size() >= sizeof(std::uint64_t)) stop = fields::read_short_number(begin, value);
        if (stop == nullptr) {
            const auto [end, error] = std::from_chars(begin, begin + rest.size(), value);
            if (error != std::errc{}) return false;
            stop = end;
        }
        raw = std::string_view(begin, static_cast<std::size_t>(stop - begin));
        rest.remove_prefix(raw.size());
        return true;
    }

    /// A count: no sign.
    [[gnu::always_inline]] bool count(std::int64_t& value, std::string_view& raw) {
        return !rest.empty() && base::is_digit(rest[0]) && number(value, raw);
    }

    bool count(std::int64_t& value) {
        std::string_view raw;
        return count(value, raw);
    }

    /// "12.345" in units of the digit at place `digits` behind the point: 12345 for 3. Further digits are cut off, too
    /// few stand for zeros. Two of them can be added and subtracted: they are half of the largest number at most.
    bool fixed_point(std::int64_t& value, int digits) {
        const auto before = rest;
        const bool negative = skip("-");
        if (!count(value) || !skip(".") || rest.empty() || !base::is_digit(rest[0])) {
            rest = before;
            return false;
        }
        bool fits = true;
        const auto append = [&](int digit) {
            fits = fits && value <= (std::numeric_limits<std::int64_t>::max() / 2 - digit) / 10;
            if (fits) value = value * 10 + digit;
        };
        for (; !rest.empty() && base::is_digit(rest[0]); rest.remove_prefix(1)) {
            if (digits-- > 0) append(rest[0] - '0');
        }
        while (digits-- > 0)
            append(0);
        if (!fits) rest = before;
        if (negative) value = -value;
        return fits;
    }
};

}  // namespace stapgen::decode
