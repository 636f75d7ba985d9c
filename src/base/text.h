// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stapgen::base {

/// A decimal one.
inline bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

/// A letter or digit of ASCII, or _: what names of C consist of.
inline bool is_word_character(char character) {
    static constexpr auto are = [] {
        std::array<bool, 256> out{};
        for (int c = 0; c < 256; ++c) {
            out[static_cast<std::size_t>(c)] =
                (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        }
        return out;
    }();
    return are[static_cast<unsigned char>(character)];
}

/// Digits and nothing else, at least one.
bool is_decimal(std::string_view text);

/// Whether `word` is one of `list`, whose words have one blank between.
bool contains_word(std::string_view list, std::string_view word);

/// Splits at every `separator`; "a,,b" gives three parts, "" gives one empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Splits at runs of blanks and tabs; no part is empty.
std::vector<std::string_view> words(std::string_view text);

inline bool starts_with_any(std::string_view text, std::span<const std::string_view> beginnings) {
    for (const auto begin : beginnings) {
        if (text.starts_with(begin)) return true;
    }
    return false;
}

/// The texts of the pattern's `*`, so that the whole text fits it: the shortest match. Nothing if it does
/// not.
std::optional<std::vector<std::string_view>> match(std::string_view pattern, std::string_view text);

/// Without blanks, tabs and line ends at both ends.
std::string_view trim(std::string_view text);

/// The first bytes of a text, without a character of UTF-8 that would be cut.
std::string_view whole_characters(std::string_view text, std::size_t max_bytes);

/// Letters of ASCII in upper case, the rest as it is.
std::string upper(std::string_view text);

/// The whole text as a number of the given base, nothing before or after it.
std::optional<std::int64_t> to_int(std::string_view text);
std::optional<std::uint64_t> to_unsigned(std::string_view text, int base = 10);
/// Hexadecimal, with or without 0x.
std::optional<std::uint64_t> from_hex(std::string_view text);

/// The candidate that `name` is short for, if it is one alone; else the nearest by edit distance, if near enough to be
/// a slip of the finger.
std::optional<std::string> did_you_mean(std::string_view name, const std::vector<std::string>& candidates);
/// The same as a hint: "did you mean 'x'?" and `more`; where none is near, `otherwise`.
std::string meant_hint(std::string_view name, const std::vector<std::string>& candidates, std::string otherwise = {},
                       std::string_view more = {});

/// For a terminal or a log: control characters (escape sequences in a process name), those of C1 (U+0080 to U+009F)
/// among them, and bytes that are not UTF-8 as \xNN.
std::string printable(std::string_view text);

/// A command that can be pasted into a shell.
std::string shell_quoted(const std::vector<std::string>& argv);
/// The same for a terminal: what printable() shows as \xNN, which shell_quoted() has put in quotes, is $'\xNN', which
/// bash and zsh take for that byte.
std::string shell_printable(std::string_view quoted);

/// "2,019".
std::string with_commas(std::int64_t number);

/// Columns of a ticket or a mail.
inline constexpr std::size_t default_width = 80;

/// Words with one blank between, in lines that fit: each but the last with its end. All but the first begin
/// with `indent` blanks; the first one begins at the column `begin`.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0, std::size_t begin = 0);

/// No line of it wider than `width`, broken at blanks, as far as its words allow; 0: as it is. What follows in a broken
/// line is `indent` deeper than its beginning. Blanks within a line stay.
std::string fitted(std::string_view text, std::size_t width, std::size_t indent = 2);

/// The same of prose: lines that follow each other and do not begin with a blank are one paragraph.
std::string reflowed(std::string_view text, std::size_t width);

/// A command for a shell, in lines of that width, each but the last with its \ at the end, so that it can be pasted;
/// not broken within quotes. 0: in one line.
std::string fitted_command(std::string_view command, std::size_t width, std::size_t indent = 2);

/// As sha256sum prints it: 64 hexadecimal digits.
std::string sha256(std::string_view text);

}  // namespace stapgen::base
