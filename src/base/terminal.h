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

/// What and why, then in a line of its own what to do next.
std::string error_text(const Error& error);

/// Writes an error as every error is written: what and why, then what to do next.
void show_error(const base::Error& error);

}  // namespace stapgen::base
