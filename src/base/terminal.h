// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::base {

/// Writes a line to stderr behind the program's name. What it quotes may be anybody's words: control characters of it
/// are shown as \xNN.
void print_message(std::string_view text);
void print_message(const std::vector<std::string>& texts);

/// Columns of the terminal that a descriptor is; 0 where it is none.
std::size_t terminal_columns(int descriptor);

/// Which colours are used: `automatic` where there is a terminal that has some and $NO_COLOR is not set (no-color.org).
enum class Colours { automatic, always, never };

/// Whether what is written to that descriptor has colours.
bool wants_colours(Colours colours, int descriptor);

/// Sets the locale's characters as the environment asks for them, and returns whether they are UTF-8.
/// std::setlocale(LC_CTYPE, "C") ends it.
bool take_locale();

/// Properties of the output. Without a terminal lines are as long as they are.
struct Screen {
    std::size_t width = 0;  ///< columns of the terminal; 0: it is none
    bool colours = false;
    bool utf8 = false;  ///< it is a terminal, and its characters are UTF-8
};
Screen screen_of(int descriptor, Colours colours = Colours::automatic);

/// Meanings of colours: red, yellow, green, bold.
enum class Ink { plain, bad, warning, good, strong };
/// The sequence that begins it; `ink_end` ends it. Empty: none.
std::string_view sequence_of(Ink ink);
inline constexpr std::string_view ink_end = "\x1b[0m";
/// Each line of the text in that colour.
std::string painted(std::string_view text, Ink ink);

/// As stdout takes it: on a terminal no line is wider than that.
void print_text(std::string_view text);
/// Lines of a shell's script: a comment, each line of it with its #; a command, which can be pasted.
void print_comment(std::string_view text);
void print_command(std::string_view command);

/// The failure and its cause, then in a line of its own what to do next.
std::string error_text(const Error& error);

/// Writes an error as every error is written: what and why, then what to do next.
void show_error(const base::Error& error);

}  // namespace stapgen::base
